#!/usr/bin/env bash
# Creates the samples next to this script, using the programs of bb9e634:
#   make.sh BIN_DIR     BIN_DIR: build/release/bin of a checkout of bb9e634
# The daemons are killed (-9) in the middle of their work, as may happen before an upgrade.
set -euo pipefail
bin=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
port=$((20000 + $$ % 9000))
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
yard() { "$bin/trainyard" --server "127.0.0.1:$port" "$@"; }
until_true() {
  for _ in $(seq 200); do if "$@" >/dev/null 2>&1; then return; fi; sleep 0.1; done
  echo "did not come true in 20 s: $*" >&2; return 1
}
state_is() { yard ps -a | grep -iE "^ *$1 .*\b$2\b"; }
reached() { yard metrics "$1" loss -o csv | grep -E "\b$2\b"; }

"$bin/trainyard-controller" --listen "127.0.0.1:$port" --data-dir controller \
  --http-listen 127.0.0.1:0 >controller.log 2>&1 &
controller=$!; pids+=($controller)
"$bin/trainyard-worker" --controller "127.0.0.1:$port" --data-dir worker0 \
  --node-name node0 --cpu-slots 2 --metrics-listen 127.0.0.1:0 >worker0.log 2>&1 &
worker=$!; pids+=($worker)
until_true sh -c "'$bin/trainyard' --server 127.0.0.1:$port nodes | grep -q node0"

# Job 1 writes metrics, saves two checkpoints, deletes one, raises an alert, and succeeds.
cat >one.yaml <<'E'
name: finished
resources: {device: cpu}
command:
  - /bin/sh
  - -c
  - |
    t=$TRAINYARD_TELEMETRY
    for step in $(seq 40); do
      echo "{\"type\":\"metrics\",\"step\":$step,\"loss\":$((100 - step)).5}" >> $t
      echo "step $step"
    done
    echo '{"type":"checkpoint","step":20,"path":"/none/step_20","bytes":7,"epoch":1}' >> $t
    echo '{"type":"checkpoint","step":40,"path":"/none/step_40","bytes":9}' >> $t
    echo '{"type":"checkpoint","step":20,"deleted":true,"epoch":1}' >> $t
    echo '{"type":"alert","step":30,"code":"loss_spike","message":"the loss rose"}' >> $t
E
# Job 2 fails twice, each time because of its exit code.
cat >two.yaml <<'E'
name: no-shard
resources: {device: cpu}
restart: {max_restarts: 1, backoff: 0}
log_parser: {kind: regex, pattern: 'step=(?P<step>\d+) loss=(?P<loss>\S+)'}
command:
  - /bin/sh
  - -c
  - |
    for i in 1 2 3; do echo "step=$i loss=$((9 - i))"; done
    echo "no such shard" >&2
    exit 3
E
# Job 3 succeeds in its second attempt while the controller is down.
cat >three.yaml <<'E'
name: ended-unseen
resources: {device: cpu}
restart: {max_restarts: 3, backoff: 0}
command:
  - /bin/sh
  - -c
  - |
    [ "$TRAINYARD_ATTEMPT" = 1 ] && exit 1
    t=$TRAINYARD_TELEMETRY
    for step in $(seq 1000000); do
      echo "{\"type\":\"metrics\",\"step\":$step,\"loss\":2.5,\"step_seconds\":0.1}" >> $t
      echo "step $step"
      [ -e WORK/end ] && break
      sleep 0.1
    done
    echo "the last line"
E
sed -i "s|WORK|$work|" three.yaml
# Job 4 loses its rank and the rank's shim in the second attempt. The third attempt succeeds.
cat >four.yaml <<'E'
name: lost
resources: {device: cpu}
restart: {max_restarts: 3, backoff: 0}
command:
  - /bin/sh
  - -c
  - |
    echo "attempt $TRAINYARD_ATTEMPT"
    [ "$TRAINYARD_ATTEMPT" = 1 ] && exit 1
    [ "$TRAINYARD_ATTEMPT" = 3 ] && exit 0
    echo '{"type":"metrics","step":1,"loss":1.5}' >> $TRAINYARD_TELEMETRY
    sleep 1000000
E
# Job 5 waits for both slots.
cat >five.yaml <<'E'
name: waiting
resources: {device: cpu, slots_per_node: 2}
command: [/bin/sh, -c, 'echo "its turn"']
E
yard submit one.yaml; until_true state_is 1 SUCCEEDED
yard submit two.yaml; until_true state_is 2 FAILED
yard submit three.yaml; yard submit four.yaml
until_true state_is 3 RUNNING; until_true state_is 4 RUNNING
until_true reached 3 10; until_true reached 4 1
yard submit five.yaml
yard ps -a

kill -9 $controller
sleep 1; touch end; sleep 2     # The worker spools what comes now: steps, output, an exit.
kill -9 $worker
pid_of() { grep -o "\"$1\": *[0-9]*" worker0/attempts/4/2/rank0/shim.json | grep -o '[0-9]*$'; }
kill -9 "$(pid_of shim_pid)"    # First, so that it does not see the rank end.
kill -9 -- "-$(pid_of rank_pid)"
pack() { tar --sort=name --owner=0 --group=0 -czf "$@"; }
pack "$here/cluster.tar.gz" controller worker0

# A trainer without daemons: its checkpoint of step 20, its fence, and the losses after step 20.
seq 400 | sed 's/$/: the quick brown fox jumps over the lazy dogs./' >text.txt
"$bin/trainyard" data prepare --tokenizer byte --out tokens --val-fraction 0 text.txt
cat >run.json <<'E'
{"resources": {"device": "cpu"},
 "model": {"num_layers": 1, "hidden_size": 16, "ffn_hidden_size": 32, "num_attention_heads": 2,
           "num_query_groups": 1, "vocab_size": 257},
 "data": {"path": "tokens"},
 "train": {"seq_length": 32, "global_batch": 4, "precision": "fp32", "threads": 1, "steps": 30},
 "optimizer": {"lr": 1e-2, "min_lr": 1e-3}, "schedule": {"warmup_steps": 5},
 "checkpoint": {"every_steps": 20, "keep_last": 3}}
E
export TRAINYARD_JOB_ID=7 TRAINYARD_ATTEMPT=3 TRAINYARD_CHECKPOINT_DIR=checkpoints
"$bin/trainyard-trainer" --config run.json
rm -rf checkpoints/step_*30
mv telemetry.jsonl expected.jsonl
pack "$here/trainer.tar.gz" run.json tokens checkpoints expected.jsonl
ls -l "$here"
