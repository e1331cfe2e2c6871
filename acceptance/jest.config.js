module.exports = {
  displayName: 'acceptance',
  preset: '../jest.preset.js',
  // A project of its own, which needs a browser.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/browser/'],
};
