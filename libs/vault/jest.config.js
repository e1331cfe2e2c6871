module.exports = { displayName: 'vault', preset: '../../jest.preset.js' };
