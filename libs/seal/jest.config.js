module.exports = { displayName: 'seal', preset: '../../jest.preset.js' };
