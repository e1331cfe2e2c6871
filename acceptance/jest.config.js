module.exports = { displayName: 'acceptance', preset: '../jest.preset.js' };
