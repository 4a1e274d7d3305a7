#!/usr/bin/python3
# A training program with one fault: sick_trainer.py FAULT SWITCH. The program has the fault while
# the file SWITCH exists. Without the file, and with the fault "none", the program is healthy.
#
#   stall    the last rank stops, and the other ranks wait for it
#   diverge  the loss is NaN
#   slow     a step takes three times as long
#   crash    the program exits with an error after a few steps
#   unsaved  saves fail
import json
import os
import sys
import time

SECONDS_PER_STEP = 0.1
STEPS = 1_000_000
STEPS_BEFORE_CRASH = 5
STEPS_BETWEEN_SAVES = 20
TOKENS_PER_STEP = 100
# Seconds until a waiting rank reports what it is waiting for.
SECONDS_BEFORE_FLIGHT = 1

fault, switch = sys.argv[1:]
rank = int(os.environ.get("RANK", "0"))
last_rank = int(os.environ.get("WORLD_SIZE", "1")) - 1
telemetry = open(os.environ["TRAINYARD_TELEMETRY"], "ab", buffering=0)


def now_ms():
    return int(time.time() * 1000)


def report(kind, **fields):
    record = {"type": kind, "time_ms": now_ms(), **fields}
    telemetry.write((json.dumps(record) + "\n").encode())


def has(name):
    return fault == name and os.path.exists(switch)


def wait_while_stalled(step):
    entered_ms, entered = now_ms(), time.monotonic()
    is_reported = rank == last_rank
    while has("stall"):
        if not is_reported and time.monotonic() - entered > SECONDS_BEFORE_FLIGHT:
            is_reported = True
            report("flight", group="world", ranks=f"0-{last_rank}", sequence=step + 1, operation="all-reduce",
                   bytes=4096, queued_ms=entered_ms, entered_ms=entered_ms)
        time.sleep(0.05)


def save(step):
    if has("unsaved"):
        report("alert", step=step, code="checkpoint_failed", message="No space left on device")
    else:
        path = os.path.abspath(f"{os.environ['TRAINYARD_CHECKPOINT_DIR']}/step-{step}")
        report("checkpoint", step=step, path=path, bytes=4096, blocking_seconds=0, total_seconds=0.01)


report("phase", phase="train", step=0)
for step in range(1, STEPS + 1):
    wait_while_stalled(step - 1)
    seconds = 3 * SECONDS_PER_STEP if has("slow") else SECONDS_PER_STEP
    time.sleep(seconds)
    report("rank", step=step, step_seconds=seconds)
    if rank == 0:
        loss = float("nan") if has("diverge") else 2 + 1 / step
        report("metrics", step=step, total_steps=STEPS, loss=loss, step_seconds=seconds,
               tokens_per_second=TOKENS_PER_STEP / seconds)
    if fault == "unsaved" and rank == 0 and step % STEPS_BETWEEN_SAVES == 0:
        save(step)
    if step >= STEPS_BEFORE_CRASH and has("crash"):
        raise RuntimeError("the workers of the data loader are gone")
