module.exports = { displayName: 'shares', preset: '../../jest.preset.js' };
