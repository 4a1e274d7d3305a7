#!/usr/bin/env bash
# Makes web/dist, which is committed: users and their builds need no Node.js. Run it after a change
# of the dashboard; tests/web/run.sh fails when web/dist is not what the sources make.
#   web/build.sh            builds web/dist
#   web/build.sh packages   only installs the packages of the lock file
set -euo pipefail
cd "$(dirname "$0")"

install() { PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --loglevel=error; }

# Our stamp in node_modules tells whether it belongs to the lock file.
if ! cmp -s package-lock.json node_modules/.lock-installed; then
  # Debian 12's Node.js is 18. npm leaves out packages that want a newer one, so the first round
  # only brings Node.js itself, and the second runs under it.
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
