#!/usr/bin/env bash
# Makes web/dist, which is committed: users and their builds need no Node.js. Run it after a change
# of the dashboard; tests/web/run.sh fails when web/dist is not what the sources make.
#   web/build.sh            builds web/dist
#   web/build.sh packages   only installs the packages of the lock file
set -euo pipefail
cd "$(dirname "$0")"

# Our stamp in node_modules tells whether it belongs to the lock file.
if ! cmp -s package-lock.json node_modules/.lock-installed; then
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund
  cp package-lock.json node_modules/.lock-installed
fi
if [ "${1:-}" = packages ]; then exit 0; fi
. ./node_path.sh
npm run --silent build
