module.exports = { displayName: 'definitions', preset: '../../jest.preset.js' };
