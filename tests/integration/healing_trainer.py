#!/usr/bin/python3
# A replacement for trainyard-trainer that follows the contract "Recovery in place" of
# worker/README.md. In each step, all ranks exchange files in the shared FOLDER, so that no rank is
# a step ahead of the others. A rank counts as lost when its process no longer exists.
#
# FOLDER is in the job's checkpoint directory. The file FOLDER/GENERATION/PLACE contains the pid and
# the newest step of the process at that place.
import json
import os
import signal
import sys
import time

SECONDS_PER_STEP = 0.05
HEAL_WAIT_SECONDS = 30
LOST_PEER = 69

folder = os.environ["TRAINYARD_CHECKPOINT_DIR"] + "/gang-" + os.environ["TRAINYARD_ATTEMPT"]
world = int(os.environ["WORLD_SIZE"])
order_file = os.environ["TRAINYARD_HEAL"]
standby = os.environ.get("TRAINYARD_STANDBY") == "1"
telemetry = open(os.environ["TRAINYARD_TELEMETRY"], "ab", buffering=0)
generation, place, step = (0, None, None) if standby else (1, int(os.environ["RANK"]), 0)


def tell(**record):
    record["time_ms"] = int(time.time() * 1000)
    telemetry.write((json.dumps(record) + "\n").encode())


def order():
    """The newest order, or None while there is none that is newer than this generation."""
    try:
        with open(order_file) as file:
            text = json.load(file)
    except FileNotFoundError:
        return None
    return text if text["generation"] > generation else None


def write_whole(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.{os.getpid()}", "w") as file:
        file.write(text)
    os.rename(f"{path}.{os.getpid()}", path)


def words_of(other):
    """Pid and step of the process at a place; None before it has come."""
    try:
        with open(f"{folder}/{generation}/{other}") as file:
            pid, its_step = file.read().split()
            return int(pid), int(its_step)
    except FileNotFoundError:
        return None


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def await_order(phase, seconds):
    tell(type="phase", phase=phase, step=step or 0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (text := order()) is not None:
            return text
        time.sleep(0.02)
    sys.exit(LOST_PEER)


def await_gang():
    """Waits until every place has come to this step. False when a peer is lost or an order is there."""
    while True:
        words = [words_of(other) for other in range(world)]
        if all(word is not None and word[1] >= (step or 0) for word in words):
            return True
        if any(word is not None and not lives(word[0]) for word in words) or order() is not None:
            return False
        time.sleep(0.01)


def say_step():
    # A rank without the state reports step -1 until it receives the state.
    write_whole(f"{folder}/{generation}/{place}", f"{os.getpid()} {-1 if step is None else step}")


def take_state(replaced):
    """The step of the ranks that have the state, once all of them have come; -1 when nobody has it."""
    global step
    others = [other for other in range(world) if other not in replaced]
    while step is None:
        words = [words_of(other) for other in others]
        if not others or any(word is not None and not lives(word[0]) for word in words):
            return False
        if all(word is not None for word in words):
            step = min(word[1] for word in words)
        time.sleep(0.01)
    say_step()
    return True


def join(text):
    global generation, place
    generation, place = text["generation"], text["rank"]
    say_step()
    return take_state(text["replaced"]) and await_gang()


def end_well(*_):
    sys.exit(0 if generation == 0 else 143)


signal.signal(signal.SIGTERM, end_well)
connected = False
if standby:
    connected = join(await_order("standby", 10**9))
else:
    tell(type="phase", phase="init", step=0)
    say_step()
    connected = await_gang()
in_phase = None
while True:
    if not connected:
        in_phase = "heal"
        connected = join(await_order("heal", HEAL_WAIT_SECONDS))
        continue
    if in_phase != "train":
        in_phase = "train"
        tell(type="phase", phase="train", step=step)
    time.sleep(SECONDS_PER_STEP)
    step += 1
    say_step()
    connected = await_gang()
    if not connected:
        step -= 1
        continue
    tell(type="rank", step=step, generation=generation, step_seconds=SECONDS_PER_STEP)
    if place == 0:
        tell(type="metrics", step=step, loss=1 / step, step_seconds=SECONDS_PER_STEP)
