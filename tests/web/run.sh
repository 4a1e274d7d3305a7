#!/usr/bin/env bash
# Installs the dashboard's packages from the lock file, checks types, runs unit tests, builds,
# checks the size, and drives the pages in Debian's chromium.
#   SCREENSHOTS=DIR tests/web/run.sh   also takes pictures of every page
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../web"

# The lock file's stamp in node_modules tells whether they belong together.
if ! cmp -s package-lock.json node_modules/.lock-installed; then
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund
  cp package-lock.json node_modules/.lock-installed
fi
# Tests stand outside of web/ and find its packages through this link.
ln -sfn ../../web/node_modules "$here/node_modules"
mkdir -p build

npm run --silent types
npm run --silent check
npm run --silent test
npm run --silent build
npx vitest run --config vitest.browser.config.ts "$@"
