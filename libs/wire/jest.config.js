module.exports = { displayName: 'wire', preset: '../../jest.preset.js' };
