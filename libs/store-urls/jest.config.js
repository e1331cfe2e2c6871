module.exports = { displayName: 'store-urls', preset: '../../jest.preset.js' };
