"""Disks that are full: of a node, of the controller, of checkpoints."""
import contextlib
import errno
import shutil
import time

from rough_site import NODES

# Sizes of the pieces that fill a disk. On a node, less than the smaller piece remains free.
# Telemetry is small, and a program that ends on a full disk loses its unwritten telemetry.
NODE_PIECES = (1 << 20, 1 << 18)
PIECES = (1 << 20, 1 << 12)
# Time limit for filling the free space.
FILL_SECONDS = 30
# Time limit for the first checkpoint of a new job.
FIRST_SECONDS = 30


@contextlib.contextmanager
def full(disk, pieces=PIECES):
    """Fills the disk; `keep(seconds)` fills again what others free meanwhile."""
    ballast = disk / "ballast"
    with open(ballast, "ab", buffering=0) as file:
        try:
            keep_full(file, pieces, 0)
            yield lambda seconds: keep_full(file, pieces, seconds)
        finally:
            ballast.unlink()


def keep_full(file, pieces, seconds):
    """Fills the disk, and for so long takes again what others free meanwhile."""
    end = time.monotonic() + seconds
    while True:
        for size in pieces:
            fill(file, size, end + FILL_SECONDS)
        if time.monotonic() > end:
            return
        time.sleep(0.05)


def fill(file, size, end):
    """Writes pieces of this size until there is no space for one."""
    with contextlib.suppress(NoSpace):
        while time.monotonic() < end:
            write(file, bytes(size))


class NoSpace(Exception):
    """The disk is full."""


def write(file, piece):
    try:
        file.write(piece)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise NoSpace from error


def fill_node(site, random, scene):
    """A node's disk is full for some seconds, while work comes in."""
    with full(site.worker_dir(random.randrange(NODES)), NODE_PIECES) as keep:
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
