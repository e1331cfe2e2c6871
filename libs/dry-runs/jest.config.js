module.exports = { displayName: 'dry-runs', preset: '../../jest.preset.js' };
