import { YamlFile } from './yaml-file';

it.each([
  ['a member', 'name: &name Hello\ndescription: *name\n', '2:14: *name: no alias'],
  ['an entry of a list', 'a: &a [1]\nb:\n  - *a\n', '3:5: *a: no alias'],
  ['a name', '&a x: 1\n*a : 2\n', '2:1: *a: no alias'],
  ['what is merged', 'a: &a { b: 1 }\nc:\n  <<: *a\n', '3:7: *a: no alias'],
])('an alias is refused with its line: %s', (_, text, said) => {
  const reading = () => new YamlFile('reactor.yaml', text);
  expect(reading).toThrow(`reactor.yaml:${said}`);
  expect(reading).toThrow(expect.objectContaining({ exit: 'usage' }));
});

it('an anchor that nothing names is part of no value', () => {
  expect(new YamlFile('reactor.yaml', 'name: &a Hello\n').value).toEqual({ name: 'Hello' });
});
