# A trainer for tests that kill processes. Follows the contract of worker/README.md. Each loss
# depends on all earlier steps, so a wrong resume is always detected.
#
#   chained_trainer.py FOLDER    trains until FOLDER/finish exists, then to the next checkpoint
#
# After each write, the trainer records it: output in FOLDER/truth-ATTEMPT-RANK, steps of metrics in
# FOLDER/metrics-ATTEMPT-RANK. A killed process has written at most one line more than it recorded;
# a process that ends normally has recorded every line.
import json
import os
import signal
import sys
import time

STEPS_PER_CHECKPOINT = 10
SECONDS_PER_STEP = 0.02

folder = sys.argv[1]
rank = int(os.environ["RANK"])
attempt = int(os.environ["TRAINYARD_ATTEMPT"])
checkpoint_dir = os.environ["TRAINYARD_CHECKPOINT_DIR"]
resume_from = os.environ["TRAINYARD_RESUME_FROM"]
telemetry = open(os.environ["TRAINYARD_TELEMETRY"], "ab", buffering=0)
truth = open(f"{folder}/truth-{attempt}-{rank}", "ab", buffering=0)
metrics_truth = open(f"{folder}/metrics-{attempt}-{rank}", "ab", buffering=0)


def tell(**record):
    record["time_ms"] = int(time.time() * 1000)
    telemetry.write((json.dumps(record) + "\n").encode())


def say(line):
    os.write(1, (line + "\n").encode())
    truth.write((line + "\n").encode())


def next_state(state, step):
    return ((state ^ step) * 6364136223846793005 + 1442695040888963407) % 2**64


def loss_of(state):
    return (state >> 11) / 2**53


def write_whole(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def save(step, state):
    path = f"{checkpoint_dir}/step_{step}"
    os.makedirs(path, exist_ok=True)
    write_whole(f"{path}/manifest.json", json.dumps({"step": step, "state": state}))
    tell(type="checkpoint", step=step, path=path, bytes=1)


def finish_step(step):
    """The step to end at: all ranks read the one that rank 0 has chosen."""
    if rank == 0 and os.path.exists(f"{folder}/finish") and not os.path.exists(f"{folder}/last"):
        ahead = step + 2 * STEPS_PER_CHECKPOINT
        write_whole(f"{folder}/last", str(ahead - ahead % STEPS_PER_CHECKPOINT))
    try:
        with open(f"{folder}/last") as file:
            return int(file.read())
    except FileNotFoundError:
        return None


def train():
    step, state = 0, 0
    if resume_from:
        with open(f"{resume_from}/manifest.json") as file:
            saved = json.load(file)
        step, state = saved["step"], saved["state"]
    tell(type="phase", phase="train", step=step)
    while True:
        last = finish_step(step)
        if last is not None and step >= last:
            return
        time.sleep(SECONDS_PER_STEP)
        step, state = step + 1, next_state(state, step + 1)
        say(f"step {step} of attempt {attempt} on rank {rank}")
        if rank == 0:
            tell(type="metrics", step=step, loss=loss_of(state), step_seconds=SECONDS_PER_STEP)
            metrics_truth.write(f"{step}\n".encode())
            if step % STEPS_PER_CHECKPOINT == 0:
                save(step, state)


signal.signal(signal.SIGTERM, lambda number, frame: os._exit(143))
train()
