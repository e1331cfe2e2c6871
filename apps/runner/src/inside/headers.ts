const { get, set, has, deleteProperty, defineProperty, getOwnPropertyDescriptor } = Reflect;
const { call } = Function.prototype;
const hasOwn = call.bind(Object.prototype.hasOwnProperty) as (
  target: object,
  name: string | symbol,
) => boolean;
const lowered = call.bind(String.prototype.toLowerCase) as (text: string) => string;
const Wrapper = Proxy;

/** Headers that are found under any spelling of their names, and kept under the lower-case one. */
export function inAnyCase(headers: object): object {
  const keyOf = (name: string | symbol): string | symbol =>
    typeof name === 'string' ? lowered(name) : name;
  return new Wrapper(
    { ...headers },
    {
      // Members of every object keep the case of their names.
      get: (target, name) =>
        get(target, hasOwn(target, keyOf(name)) ? keyOf(name) : name) as unknown,
      set: (target, name, value) => set(target, keyOf(name), value),
      has: (target, name) => has(target, keyOf(name)) || has(target, name),
      deleteProperty: (target, name) => deleteProperty(target, keyOf(name)),
      defineProperty: (target, name, property) => defineProperty(target, keyOf(name), property),
      getOwnPropertyDescriptor: (target, name) => getOwnPropertyDescriptor(target, keyOf(name)),
    },
  );
}
