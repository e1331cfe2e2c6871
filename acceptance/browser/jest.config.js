module.exports = { displayName: 'browser', preset: '../../jest.preset.js' };
