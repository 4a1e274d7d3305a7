"""Prints and saves like torchtitan: directories checkpoint/step-N, and its own choice of the newest
one."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import shape

folder = os.path.join(sys.argv[sys.argv.index("--job.dump_folder") + 1], "checkpoint")
os.makedirs(folder, exist_ok=True)
complete = [int(name[5:]) for name in os.listdir(folder)
            if re.fullmatch(r"step-\d+", name) and
            os.path.exists(os.path.join(folder, name, ".metadata"))]


def show(step):
    print(f"[rank{shape.rank()}]:[titan] 2026-11-29 12:00:00,000 - root - INFO - step: {step}  "
          f"loss: {shape.loss_of(step):.4f}  memory: 1.00GiB(2.00%)  tps: 1,000  mfu: 10.00%")


def save(step):
    directory = os.path.join(folder, f"step-{step}")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "__0_0.distcp"), "w") as file:
        file.write("weights")
    shape.write_atomically(os.path.join(directory, ".metadata"), "parts")


shape.run(max(complete, default=0), show, save, saves_on_stop=False)
