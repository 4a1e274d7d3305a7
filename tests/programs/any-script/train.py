"""Prints and saves as recipes/programs/any-script.yaml describes."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import shape

resume = os.environ["TRAINYARD_RESUME_FROM"]
start = int(open(resume).read()) if resume else 0


def show(step):
    if shape.rank() == 0:
        print(f"step={step} loss={shape.loss_of(step):.4f}")


def save(step):
    path = os.path.join(os.environ["TRAINYARD_CHECKPOINT_DIR"], f"ckpt_{step}.pt")
    shape.write_atomically(path, str(step))


shape.run(start, show, save)
