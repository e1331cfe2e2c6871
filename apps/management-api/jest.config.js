module.exports = { displayName: 'management-api', preset: '../../jest.preset.js' };
