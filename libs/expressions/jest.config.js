module.exports = { displayName: 'expressions', preset: '../../jest.preset.js' };
