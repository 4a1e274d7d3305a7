"""Records of workers and stores of the controller that are lost, damaged or something else."""
import contextlib
import os
import shutil
import time

from bystanders import losses
from processes import Process, wait_for
from rough_site import NODES, kill

# Record files of a rank. Jobs have no reason to access these files.
RANK_RECORDS = ("start.json", "shim.json", "output.log", "kill.json", "exit.json")
# Files of the worker itself.
WORKER_FILES = ("facts.bin", "attempt_numbers.bin", "stored_offsets")
STORES = ("events", "metrics", "logs")
START_SECONDS = 30


def end_worker(site, node):
    """Kills the worker and waits, so that none of its files is written any more."""
    kill(site.workers[node].pid)
    site.workers[node].popen.wait()


def lose_records(site, random, _scene):
    """The worker's records of what runs are gone, and the worker starts again."""
    node = random.randrange(NODES)
    kill(site.workers[node].pid)
    shutil.rmtree(site.worker_dir(node) / "attempts", ignore_errors=True)
    site.restart_worker(node)


def damage_starts(site, random, _scene):
    node = random.randrange(NODES)
    kill(site.workers[node].pid)
    for start in (site.worker_dir(node) / "attempts").glob("*/*/start.pb"):
        if random.random() < 0.5:
            start.unlink(missing_ok=True)
        elif start.is_file():  # Opening a FIFO of records_become_fifos would block.
            start.write_bytes(random.randbytes(100))
    site.restart_worker(node)


def damage_worker_files(site, random, _scene):
    """The worker's files of ends, attempts and stored bytes of its ranks are damaged or gone."""
    node = random.randrange(NODES)
    end_worker(site, node)
    for name in random.sample(WORKER_FILES, 2):
        path = site.worker_dir(node) / name
        if random.random() < 0.3:
            path.unlink(missing_ok=True)
        elif path.exists() and path.stat().st_size > 0:
            damage(path, random)
    site.restart_worker(node)


def lose_secret(site, random, _scene):
    """Without the proof of its id a worker is a new node; the files of the old one are kept apart."""
    node = random.randrange(NODES)
    end_worker(site, node)
    site.data_lost_at = time.monotonic()
    (site.worker_dir(node) / "node_secret").unlink(missing_ok=True)
    site.restart_worker(node)


def records_become_fifos(site, random, _scene):
    """Records are FIFOs, which an open would wait for; sometimes over a start of the worker."""
    node = random.randrange(NODES)
    ranks = list((site.worker_dir(node) / "attempts").glob("*/*/rank*"))
    for folder in random.sample(ranks, min(len(ranks), 3)):
        for name in random.sample(RANK_RECORDS, 2):
            make_fifo(folder / name)
    if random.random() < 0.3:
        for start in (site.worker_dir(node) / "attempts").glob("*/*/start.pb"):
            make_fifo(start)
    if random.random() < 0.5:
        site.restart_worker(node)


def make_fifo(path):
    # If the rank has ended in the meantime, its folder no longer exists.
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
        os.mkfifo(path)


def lose_data_directory(site, random, _scene):
    """Everything that the worker has on its disk, its node's id too."""
    node = random.randrange(NODES)
    end_worker(site, node)
    site.data_lost_at = time.monotonic()
    for path in site.worker_dir(node).iterdir():
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
    site.restart_worker(node)


def lose_events(site, _random, _scene):
    """The event log alone is lost: a controller that starts without it must refuse, for new jobs
    would get the numbers, metrics and output of old ones. Then the operator finds it again."""
    site.controller.end(9)
    aside = site.directory / "events-aside"
    aside.mkdir()
    for path in (site.directory / "controller").glob("events.db*"):
        shutil.move(path, aside)
    site.start_controller()
    try:
        code = wait_for(lambda: end_of(site.controller) or site.serves() and "serves",
                        "the controller without its event log to refuse", START_SECONDS)
        if code == "serves":
            site.blame("a controller without its event log serves beside metrics and output")
    finally:
        site.controller.end(9)
        for path in (site.directory / "controller").glob("events.db*"):
            path.unlink()
        for path in aside.iterdir():
            shutil.move(path, site.directory / "controller")
        aside.rmdir()
        site.start_controller()
    site.await_controller()


def end_of(daemon):
    """The end of a daemon, as text; None while it runs."""
    code = daemon.popen.poll()
    return None if code is None else f"ended with {code}"


def damage_store(site, random, scene):
    """Bytes of a copy of a store are changed: a controller of that copy refuses to start, or what
    it tells of an ended job is what it was."""
    job = scene.others.ended
    if job is None:
        return
    copy = site.directory / "copy"
    site.controller.end(9)
    shutil.copytree(site.directory / "controller", copy, ignore=shutil.ignore_patterns("*.sock"))
    site.restart_controller()
    try:
        damage(copy / f"{random.choice(STORES)}.db", random)
        compare_copy(site, copy, job, scene.others.ended_losses)
    finally:
        shutil.rmtree(copy)


def damage(path, random):
    size = path.stat().st_size
    with open(path, "r+b") as file:
        for _ in range(20):
            file.seek(random.randrange(size))
            file.write(random.randbytes(1))


def compare_copy(site, copy, job, true):
    listen = copy / "address"
    controller = Process(
        [site.programs / "bin/trainyard-controller", "--listen", "127.0.0.1:0", "--http-listen",
         "off", "--data-dir", copy, "--listen-file", listen, "--checkpoint-root",
         site.directory / "checkpoints"], site.directory / "copy.log")
    try:
        state = wait_for(lambda: end_of(controller) or listen.exists() and "serves",
                         "the controller of a damaged store to serve or refuse", START_SECONDS)
        site.say(f"the controller of a damaged store {state}")
        if state != "serves":
            return
        found = losses(site, job["id"], address=listen.read_text().strip())
        wrong = [step for step, loss in found.items() if true.get(step) != loss]
        if wrong:
            site.blame(f"a damaged store tells other losses of job {job['id']}: {wrong[:3]}")
    finally:
        controller.end(9)


MISFORTUNES = (lose_records, damage_starts, damage_worker_files, lose_secret, records_become_fifos,
               lose_data_directory, lose_events, damage_store)
