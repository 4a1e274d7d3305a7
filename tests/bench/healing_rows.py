"""Rows of what the controller does about a run that is in trouble, and of recovery in place."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from process_rows import end_job, rank_job, wait_running
from processes import PEER_PROGRESS_SECONDS, BenchError, Cluster, frozen, scratch, wait_for
from results import Row, promise

HEALING = pathlib.Path(__file__).parent.parent / "gpu/healing.py"
NEXT_STEP = re.compile(r"next step after ([0-9.]+) s")


def freeze_rank(cluster, directory, number):
    """Freezes one rank of two: seconds until its attempt has failed, and the verdict."""
    job = cluster.submit(rank_job(f"hang-{number}", directory, 2, 1, 10))
    wait_running(cluster, job)
    time.sleep(PEER_PROGRESS_SECONDS)
    victim = number % 2
    with frozen([cluster.rank_pid(victim, job, 1, rank_on(cluster, job, victim))]) as begin:
        failed = wait_for(lambda: cluster.event_time(job, "attempt_failed"), "the verdict", 60)
        end_job(cluster, job)
    return failed / 1e3 - begin


def rank_on(cluster, job, node):
    """The rank that runs on this node."""
    return next(rank for rank in range(2) if cluster.rank_pid(node, job, 1, rank))


def hang(bench):
    if bench.smoke:
        return [Row("stall.verdict", "s", [], note="takes 20 s: not in the smoke run")]
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        cluster.start_worker(1)
        cluster.start_worker(1)
        seconds = [freeze_rank(cluster, directory, number) for number in range(bench.repetitions)]
    return [Row("stall.verdict", "s", seconds, promised="<= max(15 s, 3 x p99 step)",
                bound=("<=", 16.5),
                note="one rank of two frozen, steps of 0.1 s; reports come once a second, a tick "
                     "every 200 ms")]


def lose_loss(cluster, directory, number):
    """A rank reports a loss that is no number: seconds until the run is rolled back."""
    job = cluster.submit(rank_job(f"nan-{number}", directory, 1, 1, 20) +
                         "guard: {policy: lower_lr}\n")
    wait_running(cluster, job)
    rank = wait_for(lambda: cluster.rank_pid(0, job, 1, 0), "the rank")
    wait_for(lambda: (directory / f"{job}-1-0").exists(), "the first step")
    begin = time.time()
    os.kill(rank, signal.SIGUSR1)
    rolled_back = wait_for(lambda: cluster.event_time(job, "attempt_rolled_back"), "a rollback", 30)
    again = wait_for(lambda: cluster.rank_pid(0, job, 2, 0), "the next attempt", 30)
    os.kill(again, signal.SIGKILL)
    end_job(cluster, job)
    return rolled_back / 1e3 - begin


def guard(bench):
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        cluster.start_worker(1)
        seconds = [lose_loss(cluster, directory, number) for number in range(bench.repetitions)]
    return [Row("guard.rollback", "s", seconds, **promise("<=", 1),
                note="a rank reports NaN to the durable event of the rollback")]


def heal(bench):
    kills = 1 if bench.smoke else 50
    program = bench.programs / "bin/trainyard-trainer"
    done = subprocess.run(
        [sys.executable, HEALING, "--trainer", program, "--ranks", "4", "--kills", str(kills)],
        capture_output=True, text=True, check=False)
    seconds = [float(found) for found in NEXT_STEP.findall(done.stdout)]
    if done.returncode != 0 or len(seconds) != kills:
        raise BenchError(f"{HEALING}: {done.stdout[-300:]} {done.stderr[-300:]}")
    return [Row("heal.next_step", "s", seconds, **promise("<=", 5),
                note=f"kill -9 of a rank of 4 to the gang's next step, {kills} kills: the trainer "
                     "with a driver in place of the daemons and a spare")]
