"""A gang of two that hangs before a pace is known, or after a rank has left with 0."""
import json
import os
import sys
import time

way = sys.argv[1]
rank = int(os.environ["RANK"])
steps = {"second_step": 1, "first_seconds": 2}.get(way, 30)

with open(os.environ["TRAINYARD_TELEMETRY"], "a", encoding="utf-8") as out:
    def tell(**fields):
        print(json.dumps({"time_ms": int(time.time() * 1000), **fields}), file=out, flush=True)

    tell(type="phase", phase="train", step=0)
    for step in range(1, steps + 1):
        time.sleep(0.2)
        tell(type="metrics", step=step, loss=1.0, step_seconds=0.2)
    if rank == 1 and way in ("uneven_data", "exit"):
        sys.exit(0)
    if way == "uneven_data":
        tell(type="flight", group="world", ranks="0-1", sequence=steps + 1, operation="all-reduce",
             entered_ms=int(time.time() * 1000))
while True:
    time.sleep(60)
