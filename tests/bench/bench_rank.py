# A program that follows the contract of worker/README.md for trainers without training a model: it
# writes telemetry and output, and waits for its peers as in a collective.
#
#   bench_rank.py FOLDER STEPS_PER_SECOND
#
# After SIGUSR1, the reported loss is NaN.
import json
import math
import os
import pathlib
import signal
import sys
import time

folder, pause = pathlib.Path(sys.argv[1]), 1 / float(sys.argv[2])
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
attempt = os.environ["TRAINYARD_ATTEMPT"]
job = os.environ["TRAINYARD_JOB_ID"]
telemetry = open(os.environ["TRAINYARD_TELEMETRY"], "ab", buffering=0)


def tell(**record):
    record["time_ms"] = int(time.time() * 1000)
    telemetry.write((json.dumps(record) + "\n").encode())


def reached(peer):
    """Steps that a rank has finished: bytes of its file."""
    try:
        return os.stat(folder / f"{job}-{attempt}-{peer}").st_size
    except FileNotFoundError:
        return 0


signal.signal(signal.SIGUSR1, lambda *_: tell(type="metrics", step=step + 1, loss=math.nan))
tell(type="phase", phase="train", step=0)
step = 0
with open(folder / f"{job}-{attempt}-{rank}", "ab", buffering=0) as steps:
    while True:
        time.sleep(pause)
        step += 1
        steps.write(b".")
        while min(reached(peer) for peer in range(ranks)) < step:
            time.sleep(0.005)
        values = {f"metric_{key}": 3 + math.sin(step * (key + 1)) / 10 for key in range(8)}
        tell(type="metrics", step=step, loss=3.0, step_seconds=pause, **values)
        print(f"step {step} of attempt {attempt} on rank {rank}, loss 3.08, 5000 tokens/s")
