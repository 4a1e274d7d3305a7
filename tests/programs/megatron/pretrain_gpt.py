"""Prints and saves like Megatron-LM: metrics on the last rank, directories iter_N, and the file
that names the newest one."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import shape

folder = sys.argv[sys.argv.index("--save") + 1]
newest = os.path.join(folder, "latest_checkpointed_iteration.txt")
start = int(open(newest).read()) if os.path.exists(newest) else 0


def show(step):
    if shape.is_last_rank():
        print(f" iteration {step:8d}/ 1000000 | consumed samples: {step * 8:12d} | elapsed time "
              f"per iteration (ms): 20.0 | learning rate: 1.5E-04 | global batch size:     8 | "
              f"lm loss: {shape.loss_of(step):.6E} | loss scale: 1.0 | grad norm: 1.234 | "
              f"number of skipped iterations:   0 | number of nan iterations:   0 |")


def save(step):
    directory = os.path.join(folder, f"iter_{step:07d}", "mp_rank_00")
    os.makedirs(directory, exist_ok=True)
    shape.write_atomically(os.path.join(directory, "model_optim_rng.pt"), "weights")
    shape.write_atomically(newest, str(step))


shape.run(start, show, save)
