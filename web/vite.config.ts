import type { ProxyOptions } from 'vite';
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
const login: ProxyOptions = {
  ...controller,
  bypass: (request) => (request.method === 'POST' ? undefined : '/index.html'),
};

export default defineConfig({
  build: {
    outDir: process.env['DIST'] ?? 'dist',
    emptyOutDir: true,
    // The oldest browsers that support light-dark(). The build does not transpile for older ones.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    manifest: true,
    // No files are inlined, because a data: URL would need an exception in the content security
    // policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: { proxy: { '/api': controller, '/login': login } },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
});
