#!/usr/bin/env bash
# Makes web/dist from the packages of the lock file: `web/build.sh`. Does nothing when it is there
# and newer than all that it is made from. `web/build.sh packages` only installs the packages.
set -euo pipefail
cd "$(dirname "$0")"

# Our stamp in node_modules tells whether it belongs to the lock file.
if ! cmp -s package-lock.json node_modules/.lock-installed; then
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund
  cp package-lock.json node_modules/.lock-installed
fi
if [ "${1:-}" = packages ]; then exit 0; fi

sources=(src public index.html vite.config.ts budget.mjs package.json package-lock.json)
if [ -f dist/index.html ]; then
  newer=$(find "${sources[@]}" -newer dist/index.html -print -quit)
  if [ -z "$newer" ]; then exit 0; fi
fi
npm run --silent build
