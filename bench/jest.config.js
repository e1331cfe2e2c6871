module.exports = { displayName: 'bench', testMatch: ['**/*.spec.js'], transform: {} };
