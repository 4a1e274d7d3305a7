"""Machines that do not share the storage of checkpoints."""
import json
import shutil
import signal
import time

from bystanders import training
from rough_site import NODES, wait_for

# Mounts an empty directory over the first argument, then executes the rest as a command.
APART = 'mount -t tmpfs none "$1" && shift && exec "$@"'
APART_NODE = "apart"


def unshared_root(site, random, _scene):
    """One more worker for some seconds, whose checkpoint root is a directory of its own."""
    data = site.directory / f"{APART_NODE}-{random.randrange(10**9)}"
    site.shift_clock(APART_NODE, 0)
    worker = site.start_daemon(APART_NODE, [
        "unshare", "--mount", "--propagation", "private", "sh", "-c", APART, "sh",
        site.directory / "checkpoints", site.programs / "bin/trainyard-worker", "--controller",
        site.address, "--data-dir", data, "--node-name", APART_NODE, "--cpu-slots", "1",
        "--stop-ranks-on-exit", "--metrics-listen", "off", "--log-level", "warn"])
    try:
        wait_for(lambda: check_of_root(site) is not None, "the apart node's checks", 60)
        if check_of_root(site)["ok"]:
            site.blame("doctor does not see that a node has a checkpoint root of its own")
        check_plan(site)
        end = time.monotonic() + random.uniform(2, 10)
        while time.monotonic() < end:
            check_placements(site)
            time.sleep(0.5)
    finally:
        leave(site, worker)
        shutil.rmtree(data, ignore_errors=True)


def check_of_root(site):
    """The check of the apart node's root; None before its worker has reported."""
    code, out, _ = site.cli("doctor", "-o", "json")
    checks = json.loads(out) if code in (0, 1) and out else []
    return next((check for check in checks
                 if check["node"] == APART_NODE and check["name"] == "shared checkpoints"), None)


def check_plan(site):
    """A gang that needs the node apart does not start."""
    file = site.directory / "unshared-plan.yaml"
    file.write_text(json.dumps(training(site, "unshared-plan", NODES + 1)))
    plan = site.cli_json("plan", file)
    file.unlink()
    if plan is not None and plan.get("starts_now"):
        site.blame("plan starts a gang on nodes that do not share the checkpoint root")


def check_placements(site):
    """No gang that saves has a rank on the node apart."""
    for node in site.cli_json("nodes") or []:
        if node["name"] != APART_NODE:
            continue
        for use in node.get("slot_uses", []):
            job = site.job(use["job_id"]) if use["job_id"] else None
            if job is not None and job["spec"]["resources"].get("nodes", 1) > 1:
                site.blame(f"gang {job['id']} runs on a node that does not share its checkpoints")


def leave(site, worker):
    """Takes the node apart out again, once short jobs on it have ended."""
    site.cli("node", "cordon", APART_NODE)

    def is_idle():
        nodes = [node for node in site.cli_json("nodes") or [] if node["name"] == APART_NODE]
        return not any(use["job_id"] for node in nodes for use in node.get("slot_uses", []))
    wait_for(is_idle, "the apart node's slot to be free", 60)
    worker.end(signal.SIGTERM, 60)
    wait_for(lambda: site.cli("node", "remove", APART_NODE)[0] == 0 or not is_known(site),
             "the node apart to be removed", 60)


def is_known(site):
    return any(node["name"] == APART_NODE for node in site.cli_json("nodes") or [])


MISFORTUNES = (unshared_root,)
