"""Rows of a real controller under load that comes over gRPC from another process."""
import time

from processes import (BenchError, Cluster, SimulatedWorkers, cpu_percent, scratch, wait_for)
from results import Row, promise
from store_rows import disk, google_benchmark


def submissions(bench, callers, jobs, *options, controller_flags=()):
    """Submissions a second of one repetition each, on one controller that starts empty."""
    samples, latencies = [], []
    with scratch(bench.data) as directory:
        cluster = Cluster(bench.programs, directory)
        cluster.controller_flags = controller_flags
        with cluster, SimulatedWorkers(cluster, 1, 8):
            for number in range(bench.repetitions):
                report = cluster.load("submit", "--prefix", f"run{number}", "--jobs", jobs,
                                      "--callers", callers, *options)
                samples.append(jobs / report["seconds"])
                latencies.append(report["p50_ms"])
    return samples, latencies


def submit(bench):
    if bench.sync_ms is None:
        disk(bench)
    few = 5 if bench.smoke else 300
    single, latency = submissions(bench, 1, few)
    some, _ = submissions(bench, 64, 10 * few)
    many, _ = submissions(bench, 1024, 20 * few)
    edge, _ = submissions(bench, 1024, 20 * few, "--refused")
    jobs, callers = (500, 100) if bench.smoke else (20_000, 8000)
    runs = google_benchmark(bench, "loop_benchmark", f"LoopSubmissions/{jobs}/{callers}")
    limit = f"a sync of this disk takes {bench.sync_ms:.2f} ms: {1e3 / bench.sync_ms:.0f} a second"
    return [Row("submit.one_caller", "jobs/s", single, **promise(">=", 2000), note=limit),
            Row("submit.latency", "ms", latency, note="median from call to answer, one caller"),
            Row("submit.per_sync", "x", [ms / bench.sync_ms for ms in latency],
                note="submit.latency / disk.sync_growing; not checked: a shared disk's sync "
                     "changes twentyfold within minutes"),
            Row("submit.64_callers", "jobs/s", some, note="calls share commits"),
            Row("submit.1024_callers", "jobs/s", many, **promise(">=", 20_000),
                note="the same; the client's own work takes part of the two cores"),
            Row("submit.refused", "calls/s", edge,
                note="the same requests, refused when they are decoded: what gRPC itself can do "
                     "here, client and server on the same cores"),
            Row("submit.to_refused", "x", [job / call for job, call in zip(many, edge)],
                note="submit.1024_callers / submit.refused; not checked: they are not run by turns"),
            Row("submit.loop", "jobs/s", [run["items_per_second"] for run in runs],
                **promise(">=", 20_000),
                note="8,000 under way through loop and SQLite, without gRPC"),
            Row("submit.loop_cpu", "jobs/cpu-s", [1e3 * jobs / run["cpu_time"] for run in runs],
                note="the same for each second of processor time, of all threads together")]


def ingest(bench):
    jobs, steps = (2, 200) if bench.smoke else (8, 25_000)
    samples = []
    for _ in range(bench.repetitions):
        with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
            report = cluster.load("ingest", "--jobs", jobs, "--steps", steps, "--batch", 100)
        if report["stored_points"] != report["points"]:
            raise BenchError(f"{report['points']} points sent, {report['stored_points']} stored")
        samples.append(report["points"] / report["seconds"])
    return [Row("ingest.points", "points/s", samples, **promise(">=", 200_000),
                note=f"{jobs} workers over gRPC, {jobs * steps * 10:,} points each time, "
                     "acknowledged when durable, all counted")]


class Fleet:
    """Simulated workers whose slots are full of gangs, and a queue behind them."""

    def __init__(self, bench):
        self.workers, self.slots, self.gang = (8, 2, 4) if bench.smoke else (2000, 8, 8)
        self.jobs = 20 if bench.smoke else 10_000
        self.running = self.workers // self.gang
        self.bench = bench

    def fill(self, cluster):
        cluster.load("submit", "--prefix", "gang", "--jobs", self.running, "--callers", 8,
                     "--nodes", self.gang, "--slots", self.slots)
        wait_for(lambda: self.count(cluster, "running") == self.running, "the gangs to run", 120)
        self.settle()

    def queue(self, cluster):
        cluster.load("submit", "--prefix", "queued", "--jobs", self.jobs - self.running,
                     "--callers", 256)
        self.settle()

    def settle(self):
        time.sleep(0.2 if self.bench.smoke else 3)

    def measure(self, process):
        times = self.bench.repetitions
        cpu = cpu_percent(process, 0.2 if self.bench.smoke else 5, times)
        return cpu, [process.rss_bytes() / 2**20] * times

    @staticmethod
    def count(cluster, states):
        return int(cluster.get(f"/jobs?states={states}&limit=1")["total"])

    def check(self, cluster):
        """After a restart: every node is there and no job has been touched."""
        wait_for(lambda: self.count(cluster, "running") == self.running, "the gangs to run on", 60)
        nodes = cluster.get("/nodes")["nodes"]
        ready = sum(node["state"] == "ready" for node in nodes)
        if ready != self.workers:
            raise BenchError(f"{ready} of {self.workers} nodes are ready after a restart")
        jobs = cluster.get(f"/jobs?states=running&limit={self.running}")["jobs"]
        if any(int(job["attempts"][-1]["number"]) != 1 for job in jobs):
            raise BenchError("a job was restarted because the controller was")


def lists(bench, fleet, cluster):
    pages = [cluster.load("list", "--page", 1000) for _ in range(bench.repetitions)]
    if any(report["jobs"] != fleet.jobs for report in pages):
        raise BenchError(f"the list does not hold {fleet.jobs} jobs")
    first = []
    for _ in range(bench.repetitions):
        begin = time.perf_counter()
        cluster.get("/jobs?limit=100&order=name")
        first.append(1e3 * (time.perf_counter() - begin))
    return [Row("list.all_pages", "ms", [1e3 * report["seconds"] for report in pages],
                note="10,000 jobs over gRPC, 1,000 a page, with why each one waits"),
            Row("list.first_page", "ms", first, **promise("<=", 200),
                note="REST, 100 of 10,000 jobs by name")]


def restarts(bench, fleet, cluster, workers):
    serving, reconciled = [], []
    for _ in range(bench.repetitions):
        cluster.controller.kill()
        cluster.controller.popen.wait()
        begin = time.time()
        cluster.start_controller()
        wait_for(cluster.serves, "the controller to serve again", 60, 0.002)
        serving.append(time.time() - begin)
        reconciled.append(workers.wait_attached() / 1e3 - begin)
        fleet.check(cluster)
        fleet.settle()
    return [Row("restart.serving", "s", serving, **promise("<=", 2),
                note="kill -9 with 10,000 jobs and 2,000 workers; start to the first answer"),
            Row("restart.reconciled", "s", reconciled,
                note="start to the last of 2,000 workers welcome; no job was restarted. Workers "
                     "dial again after 0.2 to 5 s")]


def large_fleet_row(bench):
    """5,000 idle workers, as `leaders.large_fleet_cpu` measures them on PostgreSQL."""
    workers, seconds = (16, 0.2) if bench.smoke else (5000, 5)
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        with SimulatedWorkers(cluster, workers, 8):
            cpu = cpu_percent(cluster.controller, seconds, bench.repetitions)
    return Row("fleet.large_cpu", "% of a core", cpu, **promise("<=", 100),
               note=f"{workers} workers at 1 Hz over gRPC")


def fleet_rows(bench):
    fleet = Fleet(bench)
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        with SimulatedWorkers(cluster, fleet.workers, fleet.slots) as workers:
            idle, idle_rss = fleet.measure(cluster.controller)
            fleet.fill(cluster)
            cpu, rss = fleet.measure(cluster.controller)
            load, _ = fleet.measure(workers.process)
            fleet.queue(cluster)
            queued, queued_rss = fleet.measure(cluster.controller)
            rows = lists(bench, fleet, cluster) + restarts(bench, fleet, cluster, workers)
    note = "2,000 workers at 1 Hz over gRPC"
    full = f"{note}, {fleet.running} gangs of 64 ranks, each with 10 series at 1 Hz"
    return [Row("fleet.idle_cpu", "% of a core", idle, **promise("<=", 100), note=note),
            Row("fleet.idle_rss", "MiB", idle_rss, note=note),
            Row("fleet.cpu", "% of a core", cpu, **promise("<=", 100), note=full),
            Row("fleet.rss", "MiB", rss, note=full),
            Row("fleet.queued_cpu", "% of a core", queued, **promise("<=", 100),
                note="the same and 9,750 jobs in the queue"),
            Row("fleet.queued_rss", "MiB", queued_rss, note="the same"),
            Row("fleet.load_cpu", "% of a core", load,
                note="the simulated workers' own process"), large_fleet_row(bench), *rows]
