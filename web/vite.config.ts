import type { Plugin, ProxyOptions } from 'vite';
import { defineConfig } from 'vitest/config';

// Makes `npm run dev` use a controller at another address:
//   TRAINYARD_URL=http://host:port npm run dev
// To log in, open the path that `trainyard dashboard` prints, but at this server's address.
const controller: ProxyOptions = {
  target: process.env['TRAINYARD_URL'] ?? 'http://127.0.0.1:7071',
  // Removed because the controller rejects requests that change data if they come from another
  // origin.
  configure: (proxy) => proxy.on('proxyReq', (request) => request.removeHeader('origin')),
};
// Parts of uPlot that the dashboard does not use, each with its replacement. Without the references
// to them, the build leaves out their code: bars, steps and splines, the legend, and the functions
// for programs that use uPlot.
const UNUSED_IN_UPLOT = [
  [/\(paths\.(stepped|bars|spline)\s*= \w+\);/g, ''],
  [/const showLegend = legend\.show;/g, 'const showLegend = false;'],
  [/^\s*uPlot\.(\w*[rR]ange\w*|assign|fmtNum|orient|join|fmtDate|tzDate|\w+Gaps?)\s*= \w+;$/gm, ''],
] as const;
const withoutUnusedParts: Plugin = {
  name: 'without-unused-parts',
  apply: 'build',
  transform(code, id) {
    if (!id.endsWith('uPlot.esm.js')) return undefined;
    return {
      code: UNUSED_IN_UPLOT.reduce((text, [pattern, replacement]) => {
        const shorter = text.replaceAll(pattern, replacement);
        if (shorter === text) this.error(`uPlot has changed: ${pattern} does not match`);
        return shorter;
      }, code),
      map: null,
    };
  },
};

const login: ProxyOptions = {
  ...controller,
  bypass: (request) => (request.method === 'POST' ? undefined : '/index.html'),
};

export default defineConfig({
  plugins: [withoutUnusedParts],
  build: {
    outDir: process.env['DIST'] ?? 'dist',
    emptyOutDir: true,
    // The oldest browsers that support light-dark(). The build does not support older ones.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    manifest: true,
    // No files are inlined, because a data: URL would need an exception in the content security
    // policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Constants of other modules become literals, which are shorter.
      optimization: { inlineConst: true },
      output: {
        // The small parts that pages share are one file, because one file compresses better than
        // many. Pages need most of the parts.
        codeSplitting: {
          groups: [
            {
              name: 'shared',
              test: /web\/src\/(ui|format|api|router|events)\//,
              minShareCount: 2,
            },
          ],
        },
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: { proxy: { '/api': controller, '/login': login } },
  // All files of unit tests share one environment: 5 s instead of 32 s on two hardware threads.
  test: { include: ['src/**/*.test.ts'], environment: 'node', pool: 'threads', isolate: false },
});
