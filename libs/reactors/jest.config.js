module.exports = { displayName: 'reactors', preset: '../../jest.preset.js' };
