#!/usr/bin/env bash
# Runs watch_page.mjs with the Node.js and the packages of web/. tests/web/run.sh installs both.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../web"
. ./node_path.sh
if [ -z "${CHROMIUM:-}" ]; then
  CHROMIUM=$(command -v chromium-headless-shell || command -v chromium)
  export CHROMIUM
fi
exec node "$here/watch_page.mjs" "$@"
