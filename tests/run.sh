#!/usr/bin/env bash
# Installs the tests' dependencies, builds, runs every test, and prints "N passed, N failed".
#   tests/run.sh               every test, on the release build
#   tests/run.sh --sanitizers  also unit tests and simulation under ASan + UBSan and under TSan
#   tests/run.sh --junit DIR  also writes ctest's reports into DIR
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
  local log=$reports/$preset.log status=0
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j 2 \
    --output-junit "$PWD/$reports/$preset.xml" "$@" >"$log" 2>&1 || status=$?
  local total bad
  total=$(sed -nE 's/.* tests passed, ([0-9]+) tests failed out of ([0-9]+)/\2/p' "$log")
  bad=$(sed -nE 's/.* tests passed, ([0-9]+) tests failed out of ([0-9]+)/\1/p' "$log")
  if [ "$status" -ne 0 ]; then
    grep -vE '^ *[0-9]+/[0-9]+ Test.*(Passed|Skipped)|^ *Start |\(Skipped\)$' "$log" || true
    tests/failed_output.py "$reports/$preset.xml" || true
  fi
  if [ -z "$total" ]; then total=1 bad=1; fi
  passed=$((passed + total - bad))
  failed=$((failed + bad))
  echo "== $preset: $((total - bad)) passed, $bad failed ($((SECONDS - started)) s)"
}

deploy/dependencies.sh test
run_preset release all
if [ "$sanitizers" -eq 1 ]; then
  run_preset asan quick_tests -L 'unit|simulation'
  run_preset tsan quick_tests -L 'unit|simulation'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
