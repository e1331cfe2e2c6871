module.exports = { displayName: 'problems', preset: '../../jest.preset.js' };
