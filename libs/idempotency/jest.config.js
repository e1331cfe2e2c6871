module.exports = { displayName: 'idempotency', preset: '../../jest.preset.js' };
