import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Whatever the environment of the build says: React has a slower half for development.
  define: { 'process.env.NODE_ENV': '"production"' },
  // Under the policy of the page nothing may be inline, and no map may tell the sources.
  build: {
    outDir: '../../dist/apps/console',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The page without its editor has 520 kB. Whoever makes it much larger hears of it.
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      onLog: (level, log, report) => {
        // Of packages that are also made for servers.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
});
