module.exports = { displayName: 'certificates', preset: '../../jest.preset.js' };
