#!/usr/bin/env bash
# Runs the long forms of the failure tests, one after the other, on the release build of
# tests/run.sh. Takes about three hours on two cores. Prints the failed parts at the end.
#   tests/long.sh                all parts
#   tests/long.sh months kills   these parts:
#     months      90 days of a job of 9,600 GPUs at the failure rates of the Llama 3 report
#     simulation  3,000 seeds of each simulated cluster
#     kills       200 random kills of controller, workers and ranks
#     failovers   1,000 fail-overs between two controllers, with a table of their times
#     story       20 kills of the leader, an upgrade and a restart of the database during one
#                 training run, which Chromium watches at both controllers
#     loss        fail-overs on a network that loses 20 % of the packets
#     heals       50 kills of a rank, each followed by recovery in place, with real daemons
#     partition   a network outage and a controller outage of ten minutes each
#     hour        an hour of random faults on three nodes (as root)
set -uo pipefail
cd "$(dirname "$0")/.."

integration=build/release/tests/integration/integration_test
simulation=build/release/tests/simulation/simulation_test

months() { TRAINYARD_LONG_RUN_DAYS=90 "$simulation" --gtest_filter='LongRunTest.*'; }
simulation() { TRAINYARD_SIMULATION_RUNS=3000 "$simulation" --gtest_filter='SimulationTest.*'; }
kills() { TRAINYARD_KILLS=200 "$integration" --gtest_filter='KillTest.*'; }
failovers() { TRAINYARD_FAILOVERS=1000 "$integration" --gtest_filter='FailoverTest.Nothing*'; }
story() {
  TRAINYARD_PAGE_WATCH=$PWD/tests/web/watch_page.sh \
    "$integration" --gtest_filter='FailoverTest.Kills*'
}
loss() { TRAINYARD_LOSS_PERCENT=20 "$integration" --gtest_filter='LossyFailoverTest.*'; }
heals() { TRAINYARD_HEALS=50 "$integration" --gtest_filter='ManyHealsTest.*'; }
partition() { TRAINYARD_AWAY_SECONDS=600 "$integration" --gtest_filter='*ForLongerThanTheLimit*'; }
hour() { python3 tests/rough/run.py --minutes 60 --seed 1; }

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(months simulation kills failovers story loss heals partition hour)
for part in "${parts[@]}"; do
  case $part in
    months | simulation | kills | failovers | story | loss | heals | partition | hour) ;;
    *) sed -n '2,/^set/p' tests/long.sh | grep '^#' >&2; exit 2 ;;
  esac
done
for program in "$integration" "$simulation"; do
  [ -x "$program" ] || { echo "tests/long.sh: no $program: run tests/run.sh first" >&2; exit 2; }
done

failed=()
for part in "${parts[@]}"; do
  echo "== $part"
  began=$SECONDS
  "$part" || failed+=("$part")
  echo "== $part: $((SECONDS - began)) s"
done
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
echo "all passed: ${parts[*]}"
