"""Wall clocks that jump, and what is left of the time of a job."""
import time

from bystanders import is_over
from rough_site import NODES

HOUR = 3600
DAY = 24 * HOUR
# Maximum delay until a job's end is seen, because other faults occur meanwhile.
LOOK_SECONDS = 60


def jump_clocks(site, random, _scene):
    """The clocks of the controller and of a worker jump by up to a day under a job of seconds,
    sometimes over a restart; then its ledger has the seconds that passed."""
    begin = time.monotonic()
    number = site.try_submit(clocked_job(f"clocked-{begin:.3f}".replace(".", "-"), random))
    if number is None:
        return
    daemons = ("controller", f"worker{random.randrange(NODES)}")
    for _ in range(random.randrange(1, 4)):
        time.sleep(random.uniform(0, 3))
        daemon = random.choice(daemons)
        if daemon == "controller" and random.random() < 0.4:
            site.stop_controller()
            site.shift_clock(daemon, random.uniform(-DAY, DAY))
            site.start_controller()
            site.await_controller()
        else:
            site.shift_clock(daemon, random.uniform(-DAY, DAY))
    look_at_ledger(site, number, begin)
    for daemon in daemons:
        site.shift_clock(daemon, 0)


def clocked_job(name, random):
    """Writes phases by its wall clock, which jumps, too."""
    ahead = random.choice((0, DAY * 1000, -DAY * 1000))
    program = (
        "import json, os, time\n"
        "telemetry = open(os.environ['TRAINYARD_TELEMETRY'], 'a', buffering=1)\n"
        f"for phase, ahead in ('load', 0), ('train', {ahead}), ('checkpoint', 0), ('train', 0):\n"
        "    now = int(time.time() * 1000) + ahead\n"
        "    line = {'type': 'phase', 'phase': phase, 'time_ms': now}\n"
        "    print(json.dumps(line), file=telemetry)\n"
        "    time.sleep(2)\n")
    return {"name": name, "resources": {"device": "cpu"},
            "restart": {"max_restarts": 100_000, "backoff": 0},
            "command": ["/usr/bin/python3", "-c", program]}


def look_at_ledger(site, number, begin):
    described = None
    while time.monotonic() < begin + 10 * LOOK_SECONDS:
        described = site.cli_json("describe", number)
        if described is not None and is_over(described["job"]):
            break
        time.sleep(0.2)
    passed = time.monotonic() - begin
    if described is None or not is_over(described["job"]):
        site.blame(f"job {number}, under which clocks jumped, has not ended after {passed:.0f} s")
        return
    site.record.count("ledgers looked at")
    ledger = described["ledger"]
    wall = ledger.get("wall_seconds", 0)
    phases = sum(phase.get("seconds", 0) for phase in ledger.get("phases", []))
    if not 4 <= wall <= passed + 2:
        site.blame(f"job {number} took at most {passed:.1f} s, and its ledger has {wall:.1f} s")
    if abs(phases - wall) > 0.01:
        site.blame(f"the phases of job {number} add up to {phases:.3f} s of {wall:.3f} s")


MISFORTUNES = (jump_clocks,)
