module.exports = { displayName: 'stores', preset: '../../jest.preset.js' };
