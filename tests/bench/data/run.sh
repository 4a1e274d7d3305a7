#!/usr/bin/env bash
# Measures the data pipeline beside its peers and prints a table. README.md describes the options.
set -euo pipefail
cd "$(dirname "$0")/../../.."

if [[ " $* " != *" --help "* ]]; then
  deploy/build.sh release -DTRAINYARD_BUILD_TESTS=ON -- trainyard-data trainyard-bench-data >&2
fi
exec python3 tests/bench/data/data_bench.py "$@"
