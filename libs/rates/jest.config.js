module.exports = { displayName: 'rates', preset: '../../jest.preset.js' };
