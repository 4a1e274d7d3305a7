#!/usr/bin/env bash
# Builds the trainer with a CUDA LibTorch and checks on this machine's GPUs: the results of every
# operation and gradient (trainer_gpu_test), losses against transformers' LLaMA, bit-equal repeated
# and resumed runs, the speed of every layout for which there are enough GPUs, and 20 steps of
# LLaMA-3 1.5B on one GPU and on two GPUs (NCCL). Every rank sees all GPUs of the run, as under the
# worker, but must use only its own GPU.
#   tests/gpu/run.sh TOKENS_DIRECTORY [REPORT_DIRECTORY]
# CHECKS selects the checks to run (default: "numbers references determinism layouts train").
# MICRO_BATCH, STEPS and SAVE_EVERY change the training run; SCRATCH is its checkpoint directory.
# Needs: CUDA toolkit, cmake >= 3.25, ninja, GoogleTest, a python3 with a CUDA build of torch (2.8
# or newer), and transformers for the references. If nlohmann/json.hpp and xxhash.h are not
# installed, TRAINYARD_HEADERS=DIR names a folder that contains both.
set -euo pipefail
cd "$(dirname "$0")/../.."

tokens=${1:?usage: tests/gpu/run.sh TOKENS_DIRECTORY [REPORT_DIRECTORY]}
report=${2:-build/gpu-report}
checks=${CHECKS:-numbers references determinism layouts train}
mkdir -p "$report" build

torch_prefix=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')
wheels=$(python3 -c 'import nvidia.nccl as n, os; print(os.path.dirname(list(n.__path__)[0]))')
includes=${TRAINYARD_HEADERS:-/usr/include}
folders() { find "$wheels" -maxdepth 2 -name "$1" | paste -sd ';' -; }
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$(folders lib | tr ';' ':')

with_tests=OFF
if [[ $checks == *numbers* ]]; then with_tests=ON; fi
cmake --preset gpu -DCMAKE_PREFIX_PATH="$torch_prefix" -DNLOHMANN_JSON_INCLUDE="$includes" \
  -DXXHASH_INCLUDE="$includes" -DNCCL_ROOT="$wheels/nccl" -DTRAINYARD_BUILD_TESTS="$with_tests" \
  -DTRAINYARD_CUDA_LIBRARIES="$(folders lib)" -DTRAINYARD_CUDA_HEADERS="$(folders include)" \
  >"$report/build.log" 2>&1 || { tail -n 40 "$report/build.log"; exit 1; }
targets=(trainyard-trainer)
if [ "$with_tests" = ON ]; then targets+=(trainer_gpu_test); fi
cmake --build build/gpu --target "${targets[@]}" >>"$report/build.log" 2>&1 ||
  { grep -E 'error|Error' "$report/build.log" | head -n 40; exit 1; }

failed=()
# check NAME COMMAND...: if NAME is in CHECKS, runs the command and writes its output to the report.
check() {
  local name=$1
  shift
  if [[ " $checks " != *" $name "* ]]; then return; fi
  echo "== $name"
  if "$@" >"$report/$name.log" 2>&1; then
    grep -E 'PASS' "$report/$name.log" | tail -n 12
  else
    failed+=("$name")
    grep -E 'FAIL|Failure|Error|error' "$report/$name.log" | head -n 40
    tail -n 5 "$report/$name.log"
  fi
}

check numbers build/gpu/tests/trainer/gpu/trainer_gpu_test
check references python3 tests/trainer/references/llama_transformers.py \
  --trainer build/gpu/bin/trainyard-trainer --device gpu
runs=162m
if [ "$(nvidia-smi -L | wc -l)" -gt 1 ]; then runs+=,162m-dp2; fi
check determinism python3 tests/gpu/bench.py --trainer build/gpu/bin/trainyard-trainer \
  --out "$report/determinism" --rows "$runs" --determinism

# Runs the rows of bench.py for several GPUs, one after the other.
layouts() {
  local gpus rows
  gpus=$(nvidia-smi -L | wc -l)
  rows=$(cd tests/gpu && python3 -c "
import rows
print(','.join(name for name, row in rows.ROWS.items() if 1 < row.plan.ranks <= $gpus))")
  if [ -z "$rows" ]; then
    echo "PASS: no layout fits on $gpus GPU(s)"
    return
  fi
  local status=0
  python3 tests/gpu/bench.py --trainer build/gpu/bin/trainyard-trainer --out "$report/layouts" \
    --rows "$rows" --peers none --scratch "${SCRATCH:-/tmp}/trainyard-layouts" || status=$?
  if [ "$status" -eq 0 ]; then echo "PASS: $rows"; fi
  return "$status"
}
check layouts layouts
if [ -f "$report/layouts/bench.md" ]; then cat "$report/layouts/bench.md"; fi

micro_batch=${MICRO_BATCH:-4} steps=${STEPS:-20} save_every=${SAVE_EVERY:-10}
trainer=$PWD/build/gpu/bin/trainyard-trainer

# spec GPUS: LLaMA-3 1.5B's shape at sequence length 2048 on that many GPUs.
spec() {
  cat <<JSON
{"name": "llama3-1.5b-smoke",
 "resources": {"nodes": 1, "slots_per_node": $1, "device": "gpu"},
 "layout": {"tp": 1, "cp": 1, "ep": 1, "dp": $1, "pp": 1, "vpp": 1, "zero": 0,
            "micro_batch": $micro_batch, "recompute": "none"},
 "model": {"num_layers": 18, "hidden_size": 2048, "ffn_hidden_size": 7168, 
           "num_attention_heads": 16,
           "num_query_groups": 8, "vocab_size": 128256, "rotary_base": 500000, "norm_epsilon": 1e-5,
           "untie_embeddings_and_output_weights": true, "init_method_std": 0.02},
 "data": {"path": "$tokens", "seed": 1234},
 "train": {"seq_length": 2048, "global_batch": $((micro_batch * 2)), "steps": $steps,
           "precision": "bf16", "seed": 1234, "log_every_steps": 1},
 "optimizer": {"lr": 3e-4, "min_lr": 3e-5, "weight_decay": 0.1, "adam_beta1": 0.9,
               "adam_beta2": 0.95, "adam_eps": 1e-8, "clip_grad": 1.0},
 "schedule": {"kind": "cosine", "warmup_steps": 5},
 "evaluation": {"every_steps": 20, "samples": 8},
 "checkpoint": {"every_steps": $save_every, "keep_last": 1, "keep_every_steps": 0, "async": true},
 "restart": {}, "stop_grace": "60s"}
JSON
}

# contexts: prints the number of pairs of a process and a GPU used by that process. Process numbers
# are not used: in a container, the driver reports the numbers of the host.
contexts() { nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv,noheader | grep -c GPU; }

# memory_apart GPUS: prints the largest difference in used memory between the run's GPUs, in MiB.
memory_apart() {
  nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | head -n "$1" | sort -n |
    awk 'NR == 1 { least = $1 } { most = $1 } END { print most - least }'
}

# watch_devices GPUS BEFORE: polls until the ranks (pids) end. Fails if a rank has used another
# rank's GPU. BEFORE is the result of `contexts` before the run started.
watch_devices() {
  local gpus=$1 before=$2 most=0 least_apart=1000000 now
  local telemetry=$report/gpu$1/rank0/telemetry.jsonl
  while kill -0 "${pids[@]}" 2>/dev/null; do
    now=$(($(contexts || true) - before))
    if [ "$now" -gt "$most" ]; then most=$now; fi
    # The memory use of ranks that are still loading always differs.
    if grep -qs '"type":"checkpoint"' "$telemetry" && kill -0 "${pids[0]}" 2>/dev/null; then
      now=$(memory_apart "$gpus")
      if [ "$now" -lt "$least_apart" ]; then least_apart=$now; fi
    fi
    sleep 0.3
  done
  if [ "$most" -gt 0 ]; then
    echo "== $gpus rank(s) have used $most GPU(s), counted once for each rank"
    [ "$most" -eq "$gpus" ]
    return
  fi
  # The driver hides processes here. A context on another rank's GPU uses half a gigabyte there.
  echo "== no processes are shown; memory in use differed by $least_apart MiB between the GPUs"
  [ "$least_apart" -lt 400 ]
}

# train GPUS: runs one process per GPU, with torchrun's environment variables.
train() {
  local gpus=$1 run=$report/gpu$1 rank pids=() before visible
  visible=$(seq -s, 0 $((gpus - 1)))
  before=$(contexts || true)
  mkdir -p "$run"
  rm -rf "$run"/rank*/telemetry.jsonl
  spec "$gpus" >"$run/spec.json"
  for ((rank = 0; rank < gpus; rank++)); do
    mkdir -p "$run/rank$rank"
    (cd "$run/rank$rank" &&
      RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$gpus LOCAL_WORLD_SIZE=$gpus MASTER_ADDR=127.0.0.1 \
        MASTER_PORT=29517 CUDA_VISIBLE_DEVICES=$visible TRAINYARD_RUN_DIR=$PWD \
        TRAINYARD_TELEMETRY=$PWD/telemetry.jsonl \
        TRAINYARD_CHECKPOINT_DIR=${SCRATCH:-/tmp}/trainyard-gpu$gpus \
        TRAINYARD_ATTEMPT=1 timeout 200 "$trainer" --config "../spec.json" >output.log 2>&1) &
    pids+=($!)
  done
  local status=0 pid devices=0
  watch_devices "$gpus" "$before" || devices=$?
  for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
  echo "== $gpus GPU(s): exit $status"
  if [ "$devices" -ne 0 ]; then
    echo "== FAILED: a rank has used a GPU that is not its own"
    status=1
  fi
  tail -n 30 "$run/rank0/output.log"
  if [ "$status" -ne 0 ] && [ "$gpus" -gt 1 ]; then tail -n 5 "$run"/rank[1-9]/output.log; fi
  return "$status"
}

both() {
  train 1 && if [ "$(nvidia-smi -L | wc -l)" -ge 2 ]; then train 2; fi
}
if [[ " $checks " == *" train "* ]]; then both || failed+=(train); fi
if [ "${#failed[@]}" -gt 0 ]; then
  echo "== FAILED: ${failed[*]}"
  exit 1
fi
echo "== all checks passed: $checks"
