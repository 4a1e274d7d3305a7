"""Prints and saves like nanoGPT's train.py: ckpt.pt is overwritten, and SIGTERM ends the
program."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import shape

options = dict(word[2:].split("=", 1) for word in sys.argv[1:] if word.startswith("--"))
checkpoint = os.path.join(options["out_dir"], "ckpt.pt")
start = int(open(checkpoint).read()) if options["init_from"] == "resume" else 0


def show(step):
    if shape.rank() == 0:
        print(f"iter {step}: loss {shape.loss_of(step):.4f}, time 20.00ms, mfu 10.00%")


def save(step):
    with open(checkpoint, "w") as file:
        file.write(str(step))


shape.run(start, show, save, saves_on_stop=False)
