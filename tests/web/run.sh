#!/usr/bin/env bash
# Installs the dashboard's packages from the lock file, checks types, runs unit tests, checks that
# web/dist is up to date and small enough, and tests the pages in Chromium.
#   SCREENSHOTS=DIR tests/web/run.sh   also takes pictures of every page
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../web"

./build.sh packages
. ./node_path.sh
# The tests are outside of web/ and find web's packages through this link.
ln -sfn ../../web/node_modules "$here/node_modules"
mkdir -p build
if [ -z "${CHROMIUM:-}" ]; then
  CHROMIUM=$(command -v chromium-headless-shell || command -v chromium)
  export CHROMIUM
fi

# If the programs are built, pages are also tested with a real controller.
if [ -z "${TRAINYARD_BIN:-}" ]; then
  for preset in release dev; do
    bin=$here/../../build/$preset/bin
    if [ -x "$bin/../tests/web/seed/web_fleet" ]; then export TRAINYARD_BIN=$bin; break; fi
  done
fi
[ -n "${TRAINYARD_BIN:-}" ] || echo "tests/web: no programs are built; only fixture tests run" >&2

npm run --silent types
npm run --silent check
npm run --silent test
DIST=build/dist ./build.sh
diff -r dist build/dist >/dev/null || {
  echo "web/dist is not what web/ makes: run web/build.sh and commit web/dist" >&2
  exit 1
}
npx vitest run --config vitest.browser.config.ts "$@"
