module.exports = { displayName: 'service-host', preset: '../../jest.preset.js' };
