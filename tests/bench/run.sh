#!/usr/bin/env bash
# Builds the benchmarks' programs, measures, and prints one table.
#   tests/bench/run.sh [ROW...]  all rows, or the rows with these prefixes (such as submit, fleet)
#   tests/bench/run.sh --check   compares ratio rows with ranges.json; exits with 1 if 20 % worse
#   tests/bench/run.sh --smoke   every row once at its smallest size: shows that it works
#   tests/bench/run.sh --help    the other options
set -euo pipefail
cd "$(dirname "$0")/../.."

programs=(trainyard trainyard-controller trainyard-worker trainyard-trainer trainyard-bench-code
  trainyard-bench-load core_benchmark loop_benchmark store_benchmark plain_llama)
if [[ " $* " != *" --help "* ]]; then
  deploy/build.sh release -DTRAINYARD_BUILD_TESTS=ON -- "${programs[@]}" >&2
fi
exec python3 tests/bench/bench.py "$@"
