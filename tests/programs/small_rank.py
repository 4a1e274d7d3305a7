"""A rank that prints nanoGPT's lines: the loss of step S on rank R is 100 * R + S.

    small_rank.py STEPS [--fail-at STEP] [--fail-rank RANK] [--starts N] [--error-file]
                  [--pause SECONDS]

The rank RANK fails at step STEP in its first N starts, counted over the attempts of the job and the
restarts of the launcher. With --error-file, it describes the error only in its error file.
"""
import argparse
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("steps", type=int)
parser.add_argument("--fail-at", type=int, default=-1)
parser.add_argument("--fail-rank", type=int, default=0)
parser.add_argument("--starts", type=int, default=1)
parser.add_argument("--error-file", action="store_true")
parser.add_argument("--pause", type=float, default=0.01)
options = parser.parse_args()

rank = int(os.environ["RANK"])
starts = int(os.environ["TRAINYARD_ATTEMPT"]) + int(os.environ["TORCHELASTIC_RESTART_COUNT"])
names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR")
print("started", *[f"{name}={os.environ[name]}" for name in names], flush=True)

for step in range(1, options.steps + 1):
    if step == options.fail_at and rank == options.fail_rank and starts <= options.starts:
        if options.error_file:
            error = {"message": {"message": f"ValueError: no shard {step}", "extraInfo": {}}}
            with open(os.environ["TORCHELASTIC_ERROR_FILE"], "w") as out:
                json.dump(error, out)
            os._exit(1)
        raise ValueError(f"no shard {step}")
    print(f"iter {step}: loss {100 * rank + step}.0, time 10.00ms", flush=True)
    time.sleep(options.pause)
