// The bare peer of a sandbox: says that it is there, and sends back what it gets.
process.on('message', (message) => process.send?.(message));
process.send?.('here');
