module.exports = { displayName: 'k8s', preset: '../jest.preset.js' };
