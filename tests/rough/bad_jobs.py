"""Jobs that destroy, flood, hide and do not end."""
import os
import pathlib
import time

from bad_daemons import kill_shims
from bystanders import is_over, training

# Limits for a flood of records: duration of the flood, response time for another user, and growth
# of the event log.
FLOOD_SECONDS = 15
ANSWER_SECONDS = 10
FLOOD_EVENT_BYTES = 16 << 20


def vandal(_site, random, scene):
    scene.culprits.submit("vandal", f"{random.uniform(0, 20):.1f}")


def flood_telemetry(_site, _random, scene):
    scene.culprits.submit("flood", "telemetry")


def flood_records(site, _random, scene):
    """Records that become events, at 2 MB/s: no other user is refused or waits for long."""
    events = site.directory / "controller/events.db"
    size = events.stat().st_size
    flood = scene.culprits.submit("flood_records")
    end = time.monotonic() + FLOOD_SECONDS
    while flood is not None and time.monotonic() < end:
        answer_during_flood(site, scene)
        time.sleep(0.2)
    growth = events.stat().st_size - size
    if growth > FLOOD_EVENT_BYTES:
        site.blame(f"a flood of records of job {flood} has made events.db {growth} bytes larger")


def answer_during_flood(site, scene):
    """Another user submits a job and kills it."""
    begin = time.monotonic()
    name = f"beside-flood-{scene.culprits.made}"
    scene.culprits.made += 1
    number = scene.culprits.submit_spec({
        "name": name, "resources": {"device": "cpu"}, "command": ["/bin/sleep", "1000"],
        "restart": {"max_restarts": 0}, "stop_grace": "1s"})
    if number is None or site.cli("kill", number, "-y")[0] != 0:
        site.blame(f"{name} was refused during a flood of records")
    passed = time.monotonic() - begin
    if passed > ANSWER_SECONDS:
        site.blame(f"submit and kill of {name} took {passed:.1f} s during a flood of records")


def flood_output(_site, _random, scene):
    scene.culprits.submit("flood", "output")


def flood_directory(_site, _random, scene):
    scene.culprits.submit("flood", "directory")


def flood_files(_site, _random, scene):
    """Empty files until no disk can hold more."""
    scene.culprits.submit("burrow", "files")


def deep_tree(_site, _random, scene):
    """Directories in each other, deeper than a path can name."""
    scene.culprits.submit("burrow", "deep")


def forks(_site, random, scene):
    """Many processes, some without environment and parents; bounded, for the machine is shared."""
    scene.culprits.submit("forks", 150, f"{random.uniform(1, 20):.1f}")


def runaway(site, random, scene):
    """A job whose child leaves its session is killed; sometimes its shim dies first."""
    number = scene.culprits.submit("runaway", 60)
    end = time.monotonic() + 20
    while number is not None and time.monotonic() < end:
        mine = [variables for _, variables in site.processes()
                if variables.get("TRAINYARD_JOB_ID") == str(number)]
        if len(mine) > 1:
            break
        time.sleep(0.1)
    if random.random() < 0.5:
        kill_shims(site, random, scene)
    if number is not None:
        site.cli("kill", number, "-y")


def shared_checkpoints(site, random, scene):
    """A second job that names the first one's checkpoint directory through a symbolic link."""
    real = site.directory / f"shared-{random.randrange(10**9)}"
    real.mkdir()
    link = pathlib.Path(f"{real}-link")
    os.symlink(real, link)
    for path in (real, link):
        scene.culprits.submit("vandal", 5, checkpoint={"dir": str(path)})


def take_ended_checkpoints(site, random, scene):
    """A new job in an ended job's directory must not remove its checkpoints."""
    job = scene.others.ended
    if job is None:
        return
    folder = scene.others.checkpoints(job)
    before = {path.name for path in folder.glob("step_*")}
    spec = training(site, f"thief-{random.randrange(10**9)}", 1, dir=str(folder))
    spec["restart"] = {"max_restarts": 1, "backoff": 0}
    number = scene.culprits.submit_spec(spec)
    end = time.monotonic() + 30
    while number is not None and time.monotonic() < end:
        thief = site.job(number)
        if thief is not None and is_over(thief):
            break
        time.sleep(0.5)
    missing = before - {path.name for path in folder.glob("step_*")}
    if missing:
        site.blame(f"job {number} in the directory of ended job {job['id']} removed {missing}")


MISFORTUNES = (vandal, flood_telemetry, flood_records, flood_output, flood_directory, flood_files,
               deep_tree, forks, runaway, shared_checkpoints, take_ended_checkpoints)
