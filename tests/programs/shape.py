"""The loop of a training program: small, but with the output, files and exits of the program whose
recipe it tests. It needs only Python."""
import os
import signal
import sys
import time

STEPS = int(os.environ.get("TEST_STEPS", "1000000"))
SAVE_EVERY = int(os.environ.get("TEST_SAVE_EVERY", "100"))
STEP_SECONDS = 0.02


def loss_of(step):
    return 4 - 3 * step / (step + 100)


def rank():
    return int(os.environ.get("RANK", "0"))


def is_last_rank():
    return rank() == int(os.environ.get("WORLD_SIZE", "1")) - 1


def write_atomically(path, text):
    temporary = f"{path}.tmp"
    with open(temporary, "w") as file:
        file.write(text)
    os.rename(temporary, path)


def run(start, show, save, saves_on_stop=True):
    """Trains from the step after `start`. `show(step)` prints, on every rank; `save(step)` writes a
    checkpoint, on rank 0 only."""
    stopped = []
    if saves_on_stop:
        signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    for step in range(start + 1, STEPS + 1):
        time.sleep(STEP_SECONDS)
        show(step)
        sys.stdout.flush()
        if rank() == 0 and (step % SAVE_EVERY == 0 or stopped or step == STEPS):
            save(step)
        if stopped:
            sys.exit(143)
