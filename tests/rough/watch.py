"""Looks for what must never be: a rank that runs twice, a slot or a process that stays behind."""
import collections
import threading
import time

from rough_site import NODES, SLOTS


class Watch(threading.Thread):
    """Compares processes with the rule that a rank has one program at a time."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site = site
        self.looks = 0
        self.wrong = set()
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(0.2):
            self.look()

    def look(self):
        """Processes of two attempts of one rank must not be alive at a time."""
        self.looks += 1
        attempts = collections.defaultdict(set)
        for pid, variables in self.site.processes():
            rank = (variables["TRAINYARD_JOB_ID"], variables.get("RANK", "0"))
            attempts[rank].add((variables["TRAINYARD_ATTEMPT"], pid))
        for (job, rank), found in attempts.items():
            if len({attempt for attempt, _ in found}) > 1:
                self.blame(f"rank {rank} of job {job} ran in two attempts at a time: "
                           f"{sorted(found)}")

    def blame(self, text):
        if text not in self.wrong:
            self.site.say(f"WRONG: {text}")
        self.wrong.add(text)

    def stop(self):
        self.ended.set()
        self.join()


def what_stays(site, seconds):
    """Slots, nodes and processes that have not come back after all jobs ended."""
    end = time.monotonic() + seconds
    while True:
        stays = list(leftovers(site))
        if not stays or time.monotonic() > end:
            return stays
        time.sleep(1)


def leftovers(site):
    nodes = site.get("/nodes")["nodes"]
    ready = [node for node in nodes if node["state"] == "ready"]
    if len(ready) < NODES:
        yield f"{len(ready)} of {NODES} nodes are ready"
    for node in ready:
        taken = sum(1 for slot in node["slot_uses"] if slot.get("job_id"))
        if taken or len(node["slot_uses"]) != SLOTS:
            yield f"{node['name']} has {taken} of {len(node['slot_uses'])} slots taken"
    for pid, variables in site.processes():
        yield (f"process {pid} of job {variables.get('TRAINYARD_JOB_ID')} attempt "
               f"{variables.get('TRAINYARD_ATTEMPT')} is alive")
