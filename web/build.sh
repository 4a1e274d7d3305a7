#!/usr/bin/env bash
# Builds web/dist, which is committed so that users need no Node.js. Run this script after a change
# of the dashboard: tests/web/run.sh fails if web/dist does not match the sources.
#   web/build.sh            builds web/dist
#   web/build.sh packages   only installs the packages of the lock file
set -euo pipefail
cd "$(dirname "$0")"

install() { PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --loglevel=error; }

# Our stamp in node_modules shows whether node_modules matches the lock file.
if ! cmp -s package-lock.json node_modules/.lock-installed; then
  # Debian 12 has Node.js 18. npm skips packages that need a newer Node.js. Therefore the first
  # install gets a newer Node.js, and the second install runs under it.
  major=$(node -p 'parseInt(process.versions.node)')
  if [ "$major" -lt 20 ] && [ ! -x build/node/bin/node ]; then
    install
    mkdir -p build/node
    cp -r node_modules/node-linux-*/bin build/node/
  fi
  . ./node_path.sh
  install
  cp package-lock.json node_modules/.lock-installed
fi
. ./node_path.sh
if [ "${1:-}" = packages ]; then exit 0; fi
npm run --silent build
