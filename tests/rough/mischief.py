"""The misfortunes. Each is a function of (site, random, jobs); it returns when it is over, and
what it broke works again as far as an operator would have mended it."""
import errno
import os
import pathlib
import shutil
import signal
import time

from rough_site import HERE, NODES, kill

PROGRAMS = HERE / "programs"


class Culprits:
    """The jobs that do harm: {number: state that they may end in}."""

    def __init__(self, site):
        self.site = site
        self.made = 0
        self.numbers = []

    def submit(self, program, *arguments, **more):
        self.made += 1
        spec = {"name": f"{program}-{self.made}", "resources": {"device": "cpu"},
                "command": ["/usr/bin/python3", str(PROGRAMS / f"{program}.py"), *arguments],
                "restart": {"max_restarts": 1, "backoff": 0}, "stop_grace": "1s", **more}
        number = self.site.try_submit(spec)
        if number is not None:
            self.numbers.append(number)
        return number


def kill_controller(site, _random, _culprits):
    site.restart_controller()


def kill_worker(site, random, _culprits):
    site.restart_worker(random.randrange(NODES))


def leave_and_return(site, random, culprits):
    """A clean leave of a node right after work was submitted that may be placed there."""
    node = random.randrange(NODES)
    arguments = site.workers[node].popen.args
    culprits.submit("vandal", "0.2")
    # Without --stop-ranks-on-exit: what runs there goes on, as in an upgrade.
    site.workers[node].end(signal.SIGTERM, 60)
    time.sleep(random.uniform(0, 2))
    site.workers[node] = type(site.workers[node])(arguments, site.directory / f"worker{node}.log")


def freeze_worker(site, random, _culprits):
    worker = site.workers[random.randrange(NODES)]
    kill(worker.pid, signal.SIGSTOP)
    time.sleep(random.uniform(1, 12))
    kill(worker.pid, signal.SIGCONT)


def kill_shims(site, random, _culprits):
    """A few shims die; their programs live on without parents."""
    shims = site.shims(random.randrange(NODES))
    for pid in random.sample(shims, min(len(shims), 2)):
        kill(pid)


def kill_shims_and_worker(site, random, _culprits):
    node = random.randrange(NODES)
    kill(site.workers[node].pid)
    for pid in site.shims(node):
        kill(pid)
    site.restart_worker(node)


def lose_records(site, random, _culprits):
    """The worker's records of what runs are gone, and the worker starts again."""
    node = random.randrange(NODES)
    kill(site.workers[node].pid)
    shutil.rmtree(site.worker_dir(node) / "attempts", ignore_errors=True)
    site.restart_worker(node)


def damage_starts(site, random, _culprits):
    node = random.randrange(NODES)
    kill(site.workers[node].pid)
    for start in (site.worker_dir(node) / "attempts").glob("*/*/start.pb"):
        if random.random() < 0.5:
            start.unlink(missing_ok=True)
        elif start.exists():
            start.write_bytes(random.randbytes(100))
    site.restart_worker(node)


def lose_data_directory(site, random, _culprits):
    """Everything that the worker has on its disk, its node's id too."""
    node = random.randrange(NODES)
    kill(site.workers[node].pid)
    site.workers[node].popen.wait()
    site.data_lost_at = time.monotonic()
    for path in site.worker_dir(node).iterdir():
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
    site.restart_worker(node)


def fill_disk(site, random, culprits):
    """A node's disk is full for some seconds, while work comes in."""
    ballast = site.worker_dir(random.randrange(NODES)) / "ballast"
    end = time.monotonic() + random.uniform(3, 15)
    with open(ballast, "ab", buffering=0) as file:
        while time.monotonic() < end:
            try:
                file.write(bytes(1 << 16))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                time.sleep(0.05)
    culprits.submit("vandal", "0.2")
    ballast.unlink()


def vandal(_site, random, culprits):
    culprits.submit("vandal", f"{random.uniform(0, 20):.1f}")


def flood_telemetry(_site, _random, culprits):
    culprits.submit("flood", "telemetry")


def flood_output(_site, _random, culprits):
    culprits.submit("flood", "output")


def flood_directory(_site, _random, culprits):
    culprits.submit("flood", "directory")


def runaway(site, random, culprits):
    """A job whose child leaves its session is killed; sometimes its shim dies first."""
    number = culprits.submit("runaway", "60")
    end = time.monotonic() + 20
    while number is not None and time.monotonic() < end:
        mine = [variables for _, variables in site.processes()
                if variables.get("TRAINYARD_JOB_ID") == str(number)]
        if len(mine) > 1:
            break
        time.sleep(0.1)
    if random.random() < 0.5:
        kill_shims(site, random, culprits)
    if number is not None:
        site.cli("kill", number, "-y")


def shared_checkpoints(site, random, culprits):
    """A second job that names the first one's checkpoint directory through a symbolic link."""
    real = site.directory / f"shared-{random.randrange(10**9)}"
    real.mkdir()
    link = pathlib.Path(f"{real}-link")
    os.symlink(real, link)
    for path in (real, link):
        culprits.submit("vandal", "5", checkpoint={"dir": str(path)})


ALL = {action.__name__: action for action in (
    kill_controller, kill_worker, leave_and_return, freeze_worker, kill_shims,
    kill_shims_and_worker, lose_records, damage_starts, lose_data_directory, fill_disk, vandal,
    flood_telemetry, flood_output, flood_directory, runaway, shared_checkpoints)}
