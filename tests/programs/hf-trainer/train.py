"""Prints and saves like the Trainer of Hugging Face: a progress bar without line ends,
dictionaries, and directories checkpoint-N."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import shape


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


resume = option("--resume_from_checkpoint")
start = int(resume.rstrip("/").rsplit("-", 1)[1]) if resume else 0


def show(step):
    if shape.rank() != 0:
        return
    sys.stdout.write(f"\r{100 * step // shape.STEPS:3d}%|#         | {step}/{shape.STEPS} "
                     f"[00:01<10:00, 50.00it/s]")
    if step % 10 == 0:
        sys.stdout.write(f"\r{{'loss': {shape.loss_of(step):.4f}, 'grad_norm': 1.25, "
                         f"'learning_rate': 5e-05, 'epoch': 0.1}}\n")


def save(step):
    directory = os.path.join(option("--output_dir"), f"checkpoint-{step}")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "model.safetensors"), "w") as file:
        file.write("weights")


shape.run(start, show, save, saves_on_stop=False)
