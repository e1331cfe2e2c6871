module.exports = {
  displayName: 'runner',
  preset: '../../jest.preset.js',
  globalSetup: './jest.setup.js',
};
