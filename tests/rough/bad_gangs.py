"""Gangs that hang before their pace is known, or after a rank has left with 0."""
import time

from bystanders import is_over
from culprits import PROGRAMS

# Way to hang -> the seconds from the start within which the gang must end: the limit of its state
# (controller/core/README.md), plus time to stop the ranks on a busy machine.
WAYS = {"first_seconds": 15 + 45, "uneven_data": 15 + 45, "second_step": 120 + 45, "exit": 120 + 45}
START_SECONDS = 120


def await_job(site, number, is_met, seconds):
    """The job once this holds; None when it has not after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = site.job(number)
        if job is not None and is_met(job):
            return job
        time.sleep(0.5)
    return None


def early_hang(site, random, scene):
    """The watchdog ends a gang that hangs early."""
    way = random.choice(sorted(WAYS))
    scene.culprits.made += 1
    number = scene.culprits.submit_spec({
        "name": f"hang-{scene.culprits.made}", "resources": {"nodes": 2, "device": "cpu"},
        "command": ["/usr/bin/python3", str(PROGRAMS / "hang.py"), way],
        "restart": {"max_restarts": 0}, "stop_grace": "1s"})
    if number is None:
        return
    started = await_job(site, number, lambda job: job["state"] == "running" or is_over(job),
                        START_SECONDS)
    if started is None:
        site.say(f"job {number}, which is to hang, has not started in {START_SECONDS} s")
        return
    job = await_job(site, number, is_over, WAYS[way])
    if job is None:
        site.blame(f"job {number} hangs by {way} and has not ended after {WAYS[way]} s: "
                   f"{site.cli('why', number)[1].strip()}")
    elif (job.get("verdict") or {}).get("cause") != "stalled":
        site.blame(f"job {number} hung by {way} and ended otherwise: {job.get('verdict')}")
    else:
        site.record.count("early hangs ended")


MISFORTUNES = (early_hang,)
