#!/usr/bin/env bash
# Configures and builds a preset: `build.sh release [cmake -D options] -- [targets]`.
# Prints little on success, and the end of the log on failure.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
if [ $# -gt 0 ]; then shift; fi
targets=("$@")

mkdir -p build
log=build/$preset.log
run() {
  if ! "$@" >>"$log" 2>&1; then
    tail -n 60 "$log" >&2
    echo "build.sh: the $preset build failed; the whole log is $log" >&2
    exit 1
  fi
}
: >"$log"
run cmake --preset "$preset" "${options[@]}"
run cmake --build "build/$preset" ${targets[@]:+--target "${targets[@]}"}
