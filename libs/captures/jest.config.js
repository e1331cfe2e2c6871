module.exports = { displayName: 'captures', preset: '../../jest.preset.js' };
