"""Disks that are full: of a node, of the controller, of checkpoints."""
import contextlib
import errno
import shutil
import time

from rough_site import NODES

BLOCK = 1 << 16
# Time in which a new job makes its first checkpoint.
FIRST_SECONDS = 30


@contextlib.contextmanager
def full(disk):
    """Fills the disk; `keep(seconds)` fills again what others free meanwhile."""
    ballast = disk / "ballast"
    with open(ballast, "ab", buffering=0) as file:
        try:
            keep_full(file, 0)
            yield lambda seconds: keep_full(file, seconds)
        finally:
            ballast.unlink()


def keep_full(file, seconds):
    """Writes until the disk is full, and for so long after that."""
    end = time.monotonic() + seconds
    block = BLOCK
    while True:
        try:
            file.write(bytes(block))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            block = max(block // 4, 1)
            if time.monotonic() > end and block == 1:
                return
            time.sleep(0.02)


def fill_node(site, random, scene):
    """A node's disk is full for some seconds, while work comes in."""
    with full(site.worker_dir(random.randrange(NODES))) as keep:
        scene.culprits.submit("vandal", 0.2)
        keep(random.uniform(3, 15))


def fill_controller(site, random, scene):
    """The controller refuses what it cannot store, and answers questions all the same."""
    with full(site.directory / "controller") as keep:
        keep(random.uniform(1, 5))
        scene.culprits.submit("vandal", 0.2)
        if site.cli_json("ps") is None:
            site.blame("a controller with a full disk does not list jobs")
        keep(random.uniform(0, 5))


def fill_saves(site, random, scene):
    """Training of others whose checkpoints find no space for some time, once it has begun."""
    saves = site.directory / "saves"
    if not scene.others.guests:
        for path in saves.iterdir():
            shutil.rmtree(path)
        place = saves / scene.others.name("place")
        scene.others.submit_training(1, is_guest=True, dir=str(place))
    await_checkpoint(saves)
    with full(saves) as keep:
        keep(random.uniform(5, 25))


def await_checkpoint(saves):
    """Waits for the first checkpoint, but not for ever: the job may not have been placed."""
    end = time.monotonic() + FIRST_SECONDS
    while not list(saves.glob("*/step_*")) and time.monotonic() < end:
        time.sleep(0.1)


MISFORTUNES = (fill_node, fill_controller, fill_saves)
