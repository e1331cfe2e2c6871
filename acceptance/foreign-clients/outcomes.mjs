/** Calls one after the other, and prints at the end what failed, by name, with why. */
export function outcomes() {
  const failed = {};
  let worked = 0;
  return {
    async call(name, make) {
      try {
        const answer = await make();
        worked += 1;
        return answer;
      } catch (error) {
        const { status, statusCode, message } = error;
        failed[name] = String(statusCode ?? status ?? message).slice(0, 200);
        console.error(name, message, JSON.stringify(error.data ?? error.body));
        return undefined;
      }
    },
    done: () => console.log(JSON.stringify({ worked, failed })),
  };
}
