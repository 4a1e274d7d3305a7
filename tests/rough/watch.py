"""Looks for what must never be: a rank that runs twice, a slot or a process that stays behind."""
import collections
import http.client
import pathlib
import threading
import time
import traceback

from processes import BenchError
from rough_site import NODES, SLOTS, environment

MARK = "TRAINYARD_RANK_MARK"


class Watch(threading.Thread):
    """Compares processes with the rule that a rank has one program at a time."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site = site
        self.record = site.record
        self.seen = set()
        self.twice = set()
        self.ended = threading.Event()

    def run(self):
        try:
            while not self.ended.wait(0.2):
                self.look()
        except Exception:  # pylint: disable=broad-except
            # Without its watch a run proves nothing.
            self.record.blame(f"the watch broke: {traceback.format_exc()}")

    def look(self):
        """A rank has one leader: the first process of its one start, named in every mark."""
        found = collections.defaultdict(dict)
        for pid, variables in self.site.processes():
            start = start_of(variables)
            if start is not None:
                found[start.rank].setdefault(start, []).append(pid)
        self.seen.update(start for starts in found.values() for start in starts)
        self.record.put("marks", len(self.seen))
        self.record.count("looks")
        for rank, starts in found.items():
            if len(starts) > 1:
                self.judge(rank, starts)

    def judge(self, rank, starts):
        """The processes were met one after the other: the rule is broken by those that live now,
        after all of them were met."""
        alive = {start: [pid for pid in pids if start_of(environment(pid)) == start]
                 for start, pids in starts.items()}
        alive = {start: pids for start, pids in alive.items() if pids}
        if len(alive) < 2:
            return
        if rank not in self.twice:
            self.twice.add(rank)
            self.record.count("ranks twice")
        listed = ", ".join(f"attempt {start.attempt} leader {start.leader} on {start.node}: {pids}"
                           for start, pids in sorted(alive.items()))
        self.record.blame(f"rank {rank[1]} of job {rank[0]} ran twice at a time: {listed}")

    def stop(self):
        self.ended.set()
        self.join()


class Start(collections.namedtuple("Start", "job number attempt node leader")):
    """One start of a rank."""

    @property
    def rank(self):
        return self.job, self.number


def start_of(variables):
    """The start that a process belongs to, by its mark NODE:PLACE:JOB:ATTEMPT:RANK:LEADER."""
    parts = variables.get(MARK, "").split(":")
    if len(parts) != 6:
        return None
    node, _, job, attempt, number, leader = parts
    return Start(job, number, attempt, node, leader)


def what_stays(site, seconds):
    """Slots, nodes and processes that have not come back after all jobs ended."""
    end = time.monotonic() + seconds
    while True:
        site.revive_workers()
        site.end_quarantines(0)
        try:
            stays = list(leftovers(site))
        except (OSError, http.client.HTTPException, BenchError) as error:
            stays = [f"the controller does not answer: {error}"]
        if not stays or time.monotonic() > end:
            return stays
        time.sleep(1)


def leftovers(site):
    """Puts the figures into the record as well."""
    nodes = [node for node in site.get("/nodes")["nodes"] if node["state"] == "ready"]
    well = [node for node in nodes if not node.get("health")]
    free = sum(1 for node in nodes for slot in node["slot_uses"] if not slot.get("job_id"))
    left = list(site.processes())
    for name, number in (("nodes", NODES), ("nodes well", len(well)), ("slots", NODES * SLOTS),
                         ("slots free", free), ("processes left", len(left))):
        site.record.put(name, number)
    if len(nodes) != NODES:
        yield f"{len(nodes)} of {NODES} nodes are ready"
    if free != NODES * SLOTS:
        yield f"{free} of {NODES * SLOTS} slots are free"
    for node in nodes:
        if node.get("health"):
            yield f"{node['name']} is not well: {node['health'].get('reason')}"
    for pid, variables in left:
        yield (f"process {pid} of job {variables.get('TRAINYARD_JOB_ID')} attempt "
               f"{variables.get('TRAINYARD_ATTEMPT')} is alive: "
               f"{pathlib.Path(f'/proc/{pid}/comm').read_text().strip()}")
