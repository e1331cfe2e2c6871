// The peer of code that connects: the same code in a process that nothing closes.
process.on('message', (/** @type {{ code: string, args: unknown }} */ { code, args }) => {
  /** @type {{ exports: any }} */
  const module = { exports: {} };
  new Function('module', 'require', code)(module, require);
  module.exports({ args }).then(
    (/** @type {unknown} */ value) => process.send?.({ value }),
    (/** @type {Error} */ error) => process.send?.({ error: String(error) }),
  );
});
