import type { ProxyOptions } from 'vite';
import { defineConfig } from 'vitest/config';

// `npm run dev` uses a controller at another address: TRAINYARD_URL=http://host:port npm run dev
// To log in, open the path printed by `trainyard dashboard` at the address of this server.
const controller: ProxyOptions = {
  target: process.env['TRAINYARD_URL'] ?? 'http://127.0.0.1:7071',
  // The controller rejects requests of other origins that change data.
  configure: (proxy) => proxy.on('proxyReq', (request) => request.removeHeader('origin')),
};
const login: ProxyOptions = {
  ...controller,
  bypass: (request) => (request.method === 'POST' ? undefined : '/index.html'),
};

export default defineConfig({
  build: {
    outDir: process.env['DIST'] ?? 'dist',
    emptyOutDir: true,
    // The oldest browsers with light-dark(); the build does not transpile for older ones.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    manifest: true,
    // A data: URL would require an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: { proxy: { '/api': controller, '/login': login } },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
});
