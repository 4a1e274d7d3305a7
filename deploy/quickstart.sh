#!/usr/bin/env bash
# Trains a model on a bare Debian 12. Installs missing packages, builds, starts one controller and
# two workers on this machine, prepares the POD manuals of Perl as the corpus, trains
# recipes/llama-tiny-cpu.yaml on both nodes, and prints a report.
#   deploy/quickstart.sh [--keep] [--home DIR]
#     --keep      leaves controller and workers running
#     --home DIR  stores everything in DIR (default ~/.local/share/trainyard/quickstart)
# Exit code: 0 if the job succeeded and its loss fell enough, 2 for wrong usage, else 1.
set -euo pipefail

keep=0
home=${XDG_DATA_HOME:-$HOME/.local/share}/trainyard/quickstart
while [ $# -gt 0 ]; do
  case $1 in
    --keep) keep=1 ;;
    --home) home=${2:?--home needs a directory}; shift ;;
    -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "quickstart.sh: unknown option $1; see --help" >&2; exit 2 ;;
  esac
  shift
done
repository=$(cd "$(dirname "$0")/.." && pwd)
cd "$repository"
bin=$repository/build/release/bin
tokens=$home/tokens
export TRAINYARD_TOKEN_FILE=$home/dev/controller/token
started=$SECONDS

say() { echo "[$((SECONDS - started)) s] $*"; }
fail() { echo "quickstart.sh: $*" >&2; exit 1; }

# The validation loss must be below the loss of a unigram model by at least this many nats per
# token.
minimum_gain=1.0

prepare_corpus() {
  if [ -f "$tokens/train.json" ]; then return; fi
  local pods
  pods=$(dpkg -L perl-doc | grep '/pod/perlfunc\.pod$') || fail "perl-doc has no POD manuals here"
  "$bin/trainyard" data prepare --tokenizer sentencepiece --vocab-size 2048 --out "$tokens" \
    "$(dirname "$pods")"
}

# nodes: prints the number of nodes of the controller in $home/dev; 0 without an answer.
nodes() {
  local server
  server=$(cat "$home/dev/controller.address" 2>/dev/null) || { echo 0; return; }
  { "$bin/trainyard" --server "$server" nodes -o name 2>/dev/null || true; } | wc -l
}

start_services() {
  if [ "$(nodes)" -ge 2 ]; then
    say "using the services that already run"
    dev_pid=
    return
  fi
  rm -f "$home/dev/controller.address"
  local log=$home/dev.log
  setsid "$bin/trainyard" dev --nodes 2 --slots 1 --data-dir "$home/dev" --listen 127.0.0.1:0 \
    >"$log" 2>&1 </dev/null &
  dev_pid=$!
  local tries=0
  until [ "$(nodes)" -eq 2 ]; do
    kill -0 "$dev_pid" 2>/dev/null || { tail -n 20 "$log" >&2; fail "the services did not start"; }
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || { tail -n 20 "$log" >&2; fail "the services did not answer in 30 s"; }
    sleep 0.2
  done
}

stop_services() {
  if [ "$keep" -eq 1 ] || [ -z "${dev_pid:-}" ]; then return; fi
  kill -TERM "$dev_pid" 2>/dev/null || true
  wait "$dev_pid" 2>/dev/null || true
}

# series KEY first|last: prints the value of a metric at the first or last step.
series() {
  local line
  if [ "$2" = first ]; then
    line=$(trainyard metrics "$job" "$1" -o csv | sed -n 2p)
  else
    line=$(trainyard metrics "$job" "$1" -o csv | tail -n 1)
  fi
  echo "${line##*,}"
}

trainyard() { "$bin/trainyard" --server "$address" "$@"; }

report() {
  local entropy validation
  entropy=$(sed -nE 's/.*"unigram_entropy": *([0-9.eE+-]+).*/\1/p' "$tokens/train.json" | head -n 1)
  validation=$(series val_loss last)
  echo
  echo "Trained $job on two nodes, data parallel over Gloo."
  printf '  loss             %.3f at the first step, %.3f at the last\n' \
    "$(series loss first)" "$(series loss last)"
  printf '  validation loss  %.3f nats per token; a unigram model reaches %.3f\n' \
    "$validation" "$entropy"
  printf '  speed            %.0f tokens/s\n' "$(series tokens_per_second last)"
  echo "  checkpoints"
  trainyard ckpt list "$job" | sed 's/^/    /'
  echo "Where to look next:"
  if [ "$keep" -eq 0 ]; then
    echo "  deploy/quickstart.sh --keep    leaves the services running; then:"
  fi
  echo "  export TRAINYARD_SERVER=$address TRAINYARD_TOKEN_FILE=$TRAINYARD_TOKEN_FILE"
  echo "  export PATH=$bin:\$PATH"
  echo "  trainyard dashboard            login URL of this cluster's web page"
  echo "  trainyard describe $job        attempts, nodes, checkpoints, events"
  echo "  trainyard logs $job --tail 20  output of the ranks"
  echo "  trainyard metrics $job         every curve"
  echo "  README.md                      your own first job"
  awk -v v="$validation" -v e="$entropy" -v g="$minimum_gain" 'BEGIN { exit !(v + g < e) }' ||
    fail "the validation loss $validation is not $minimum_gain below the unigram entropy $entropy"
}

mkdir -p "$home"
chmod 700 "$home"
deploy/dependencies.sh build
say "building (the first time takes minutes; build/release.log grows)"
deploy/build.sh release -- trainyard trainyard-controller trainyard-worker trainyard-trainer
say "preparing the corpus"
prepare_corpus
say "starting one controller and two workers"
trap stop_services EXIT
start_services
address=$(cat "$home/dev/controller.address")
say "training"
job=llama-tiny-cpu-$(date -u +%Y%m%d-%H%M%S)
trainyard submit recipes/llama-tiny-cpu.yaml --set "data.path=$tokens" --name "$job" --follow || {
  trainyard describe "$job" >&2 || true
  fail "job $job did not succeed"
}
report
say "done"
