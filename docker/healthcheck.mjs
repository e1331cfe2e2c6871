// node healthcheck.mjs [live|ready]: the exit code says whether the app of this container is.
const [question = 'live'] = process.argv.slice(2);

try {
  const url = `http://127.0.0.1:${process.env.OPS_PORT}/health/${question}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(4000) });
  // Docker keeps the text: docker inspect --format '{{json .State.Health}}' CONTAINER
  console.log(await answer.text());
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  console.log(String(error));
  process.exitCode = 1;
}
