module.exports = { displayName: 'http1', preset: '../../jest.preset.js' };
