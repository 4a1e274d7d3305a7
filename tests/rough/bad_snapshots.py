"""Stores of the controller that go back in time, as a snapshot of the disk or a file copy does."""
import contextlib
import re
import shutil
import signal
import time

from rough_site import kill

SUFFIXES = ("", "-wal", "-shm")
# Time limits: to find the lost job's rank, and for a controller to stop an unwanted rank.
START_SECONDS = 20
STOP_SECONDS = 6


def copy_store(site, name, to):
    """Copies a database and its write-ahead log as they are at one moment."""
    site.controller.popen.send_signal(signal.SIGSTOP)
    try:
        for suffix in SUFFIXES:
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(site.directory / "controller" / f"{name}{suffix}", f"{to}{suffix}")
    finally:
        site.controller.popen.send_signal(signal.SIGCONT)


def put_back(site, name, copy):
    """Kills the controller and starts it with the copy."""
    site.controller.end(signal.SIGKILL)
    for suffix in SUFFIXES:
        path = site.directory / "controller" / f"{name}{suffix}"
        path.unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.move(f"{copy}{suffix}", path)
    site.start_controller()
    site.await_controller()


def ranks_of(site, number):
    """(pid, attempt) of each process of the job."""
    return [(pid, variables.get("TRAINYARD_ATTEMPT")) for pid, variables in site.processes()
            if variables.get("TRAINYARD_JOB_ID") == str(number)]


def await_ranks(site, number):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if ranks_of(site, number):
            return True
        time.sleep(0.2)
    return False


def older_events(site, random, _scene):
    """The event log is older by one job, whose rank must go on while its number stays its own."""
    copy = site.directory / "older-events"
    copy_store(site, "events.db", copy)
    lost = site.try_submit({"name": f"lost-{random.randrange(1 << 30)}",
                            "resources": {"device": "cpu"}, "command": ["/bin/sleep", "600"]})
    runs = lost is not None and await_ranks(site, lost)
    put_back(site, "events.db", copy)
    if not runs:
        return
    before = ranks_of(site, lost)
    end = time.monotonic() + STOP_SECONDS
    while time.monotonic() < end:
        if ranks_of(site, lost) != before:
            site.blame(f"job {lost}, which an older event log does not know, was not left alone")
            break
        time.sleep(0.5)
    if "has lost events" not in site.cli("server", "status")[1]:
        site.blame("an older event log is not in `server status`")
    next_job = site.try_submit({"name": f"next-{random.randrange(1 << 30)}",
                                "resources": {"device": "cpu"}, "command": ["/bin/true"]})
    if next_job is not None and next_job <= lost:
        site.blame(f"job number {next_job} was given out again after job {lost}")
    site.record.count("older event logs")
    end_unmanaged(site, lost)


def end_unmanaged(site, lost):
    """Acts as an operator: ends what the log does not know, then takes back cordons and pauses."""
    for pid, _ in ranks_of(site, lost):
        kill(pid)
    for job in site.cli_json("ps") or []:
        reason = (job.get("pause") or {}).get("reason", "")
        unknown = re.search(r"attempt (\d+), which the event log has lost", reason)
        if unknown is None:
            continue
        for pid, attempt in ranks_of(site, job["id"]):
            if attempt == unknown.group(1):
                kill(pid)
        site.cli("resume", job["id"])
    for node in site.cli_json("nodes") or []:
        if node.get("cordoned"):
            site.cli("node", "uncordon", node["id"])


def older_output(site, random, _scene):
    """The store of output is older, or gone: workers send again what they still have."""
    copy = site.directory / "older-output"
    if random.random() < 0.5:
        copy_store(site, "logs.db", copy)
    number = site.try_submit({"name": f"talker-{random.randrange(1 << 30)}",
                              "resources": {"device": "cpu"},
                              "command": ["/bin/sh", "-c", "echo begin; sleep 20; echo end"]})
    time.sleep(random.uniform(2, 5))
    put_back(site, "logs.db", copy)
    if number is None:
        return
    end = time.monotonic() + 120
    while time.monotonic() < end:
        job = site.job(number)
        if job is not None and job["state"] in ("succeeded", "failed", "stopped"):
            break
        time.sleep(1)
    lines = site.cli("logs", number)[1]
    if not ("begin" in lines and "end" in lines):
        site.blame(f"output of job {number} did not come back after its store was older")
    site.record.count("older output stores")


MISFORTUNES = (older_events, older_output)
