#!/usr/bin/env bash
# Installs the tests' dependencies, builds, runs every test, and prints "N passed, N failed".
#   tests/run.sh               every test, on the release build
#   tests/run.sh --sanitizers  also unit tests and simulation under ASan + UBSan and under TSan
#   tests/run.sh --junit DIR  also writes ctest's reports into DIR
# TRAINYARD_TEST_MINUTES (default 85; 480 with --sanitizers) limits the whole run. Tests that were
# stopped or not started count as failed.
set -euo pipefail
cd "$(dirname "$0")/.."

sanitizers=0
reports=build/reports
while [ $# -gt 0 ]; do
  case $1 in
    --sanitizers) sanitizers=1 ;;
    --junit) reports=${2:?--junit needs a directory}; shift ;;
    *) echo "usage: tests/run.sh [--sanitizers] [--junit DIR]" >&2; exit 2 ;;
  esac
  shift
done

started=$SECONDS
minutes=${TRAINYARD_TEST_MINUTES:-85}
if [ "$sanitizers" -eq 1 ]; then minutes=${TRAINYARD_TEST_MINUTES:-480}; fi
passed=0
failed=0
mkdir -p "$reports"

# run_preset PRESET TARGET [ctest options]: builds and tests one preset, and updates the counts.
run_preset() {
  local preset=$1 target=$2
  shift 2
  echo "== $preset: building"
  deploy/build.sh "$preset" -DTRAINYARD_BUILD_TESTS=ON -- "$target"
  echo "== $preset: testing ($((SECONDS - started)) s)"
  local log=$reports/$preset.log report=$reports/$preset.xml status=0
  local seconds=$((minutes * 60 - (SECONDS - started)))
  # --stop-time is a time of day. ctest takes a time that has just passed as tomorrow's.
  if [ "$seconds" -lt 10 ]; then seconds=10; fi
  rm -f "$report"
  ctest --test-dir "build/$preset" --output-on-failure --test-output-size-passed 100000 -j 2 \
    --no-tests=error --stop-time "$(date -d "+$seconds seconds" +%T)" \
    --output-junit "$PWD/$report" "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    local quiet='^ *[0-9]+/[0-9]+ Test.*(Passed|Skipped)|^ *Start |\(Skipped\)$'
    grep -vE "$quiet" "$log" || true
  fi
  sed -n '/^Label Time Summary/,/^Total Test time/p' "$log"
  local expected good bad
  expected=$(ctest --test-dir "build/$preset" -N "$@" | sed -n 's/^Total Tests: //p')
  read -r good bad < <(tests/count_tests.py "$report" "${expected:-1}")
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  if [ "$bad" -gt 0 ]; then tests/failed_output.py "$report" || true; fi
  passed=$((passed + good))
  failed=$((failed + bad))
  echo "== $preset: $good passed, $bad failed ($((SECONDS - started)) s)"
}

deploy/dependencies.sh test
run_preset release all
if [ "$sanitizers" -eq 1 ]; then
  run_preset asan quick_tests -L 'unit|simulation'
  run_preset tsan quick_tests -L 'unit|simulation'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
