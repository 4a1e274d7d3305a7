"""Rows of the programs that users run: command line, worker, and what a kill costs."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from processes import (PEER_PROGRESS_SECONDS, BenchError, Cluster, SimulatedWorkers, cpu_percent,
                       frozen, scratch, wait_for)
from results import Row, promise

HERE = pathlib.Path(__file__).parent


def spawn_milliseconds(command, runs):
    """Start to end of a new process, several times; the file is in memory after the first."""
    samples = []
    null = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
    for _ in range(runs + 1):
        begin = time.perf_counter()
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
        os.waitpid(pid, 0)
        samples.append(1e3 * (time.perf_counter() - begin))
    os.close(null)
    return samples[1:]


def cli(bench):
    runs = 2 if bench.smoke else 8 * bench.repetitions
    program = str(bench.programs / "bin/trainyard")
    queue = 10 if bench.smoke else 10_000
    nothing = spawn_milliseconds(["/bin/true"], runs)
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        server = [program, "--server", cluster.address]
        version = spawn_milliseconds([*server, "version"], runs)
        offline = spawn_milliseconds([program, "--version"], runs)
        empty = spawn_milliseconds([*server, "ps"], runs)
        with SimulatedWorkers(cluster, 1, 8):
            cluster.load("submit", "--jobs", queue, "--callers", 256)
            full = spawn_milliseconds([*server, "ps"], bench.repetitions)
    return [Row("cli.true", "ms", nothing, note="reference: /bin/true"),
            Row("cli.version_flag", "ms", offline, note="`trainyard --version`: asks nobody"),
            Row("cli.version", "ms", version, note="`trainyard version`: asks the controller"),
            Row("cli.ps", "ms", empty, note="`trainyard ps`, no jobs"),
            Row("cli.ps_full", "ms", full, note="`trainyard ps`, 10,000 jobs")]


# Step lines. 100 other lines follow each, as in programs that print one every few seconds.
PARSED_LINES = {
    "nanogpt": "iter {step}: loss 3.1250, time 123.45ms, mfu 35.12%\n",
    "megatron": " iteration {step}/ 500000 | consumed samples: 256 | elapsed time per iteration "
                "(ms): 1234.5 | learning rate: 1.500000E-04 | global batch size: 256 | "
                "lm loss: 3.125000E+00 | loss scale: 1.0 | grad norm: 1.234 |\n"}
OTHER_LINES = 100
# Lines between two steps of Megatron-LM with --log-interval 1.
DENSE_OTHER_LINES = 9
OTHER_LINE = "[rank0]:[2026-11-29 12:00:00] INFO worker 7: a message about a shard of data\n"


def parse(bench):
    """Megabytes of output that a log parser reads per second of one core."""
    megabytes = 2 if bench.smoke else 200
    rows = []
    with scratch(bench.data) as directory:
        runs = [(kind, kind, OTHER_LINES) for kind in PARSED_LINES]
        for name, kind, others in [*runs, ("megatron_dense", "megatron", DENSE_OTHER_LINES)]:
            block = "".join(PARSED_LINES[kind].format(step=step) + others * OTHER_LINE
                            for step in range(1, 101))
            path = pathlib.Path(directory) / f"{name}.log"
            path.write_text(block * (megabytes * 10**6 // len(block)))
            size = path.stat().st_size / 1e6
            samples = []
            for _ in range(2 if bench.smoke else bench.repetitions):
                before = os.times().children_user
                subprocess.run([bench.programs / "bin/trainyard", "parse", path, "--kind", kind],
                               check=True, capture_output=True)
                samples.append(size / max(os.times().children_user - before, 1e-3))
            rows.append(Row(f"parse.{name}", "MB/s of a core", samples, **promise(">=", 200),
                            note=f"one step and {others} other lines"))
    return rows


def rank_job(name, directory, nodes, slots, steps_per_second):
    return (f"name: {name}\nresources: {{nodes: {nodes}, slots_per_node: {slots}, device: cpu}}\n"
            "torchrun_env: true\n"
            f"command: [python3, {HERE / 'bench_rank.py'}, {directory}, '{steps_per_second}']\n"
            "restart: {max_restarts: 0}\nstop_grace: 1s\n")


def wait_running(cluster, job):
    wait_for(lambda: cluster.event_time(job, "attempt_running"), f"job {job} to run")


def end_job(cluster, job):
    wait_for(lambda: cluster.event_time(job, "job_ended"), f"job {job} to end", 60, 0.02)


def worker(bench):
    seconds, ranks = (0.3, 2) if bench.smoke else (5, 8)
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        cluster.start_worker(ranks)
        idle = cpu_percent(cluster.workers[0], seconds, bench.repetitions)
        job = cluster.submit(rank_job("eight", directory, 1, ranks, 10))
        wait_running(cluster, job)
        time.sleep(seconds)
        busy = cpu_percent(cluster.workers[0], seconds, bench.repetitions)
        rss = [cluster.workers[0].rss_bytes() / 2**20] * bench.repetitions
        shims = [shim_rss(cluster, job, rank) for rank in range(ranks)]
    note = "8 ranks, each 10 records of 10 series and 10 lines of output a second"
    return [Row("worker.idle_cpu", "% of a core", idle),
            Row("worker.cpu", "% of a core", busy, note=note),
            Row("worker.rss", "MiB", rss, note=note),
            Row("worker.shim_rss", "MiB", shims, note="of each rank's shim")]


def shim_rss(cluster, job, rank):
    """Resident MiB of the process that holds a rank: its parent."""
    pid = cluster.rank_pid(0, job, 1, rank)
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    parent = next(line.split()[1] for line in status.splitlines() if line.startswith("PPid:"))
    pages = int(pathlib.Path(f"/proc/{parent}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def percentile(samples, part):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def kill_one_rank(cluster, directory, number):
    """Seconds until the exit was known and until the gang was gone."""
    job = cluster.submit(rank_job(f"kill-{number}", directory, 2, 1, 20))
    wait_running(cluster, job)
    pids = [cluster.rank_pid(node, job, 1, rank) for node in range(2) for rank in range(2)]
    victim, peer = sorted(filter(None, pids))[::-1] if number % 2 else sorted(filter(None, pids))
    begin = time.time()
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: not pathlib.Path(f"/proc/{peer}").exists(), "the peer to leave", 30, 0.002)
    stopped = time.time() - begin
    end_job(cluster, job)
    return cluster.event_time(job, "rank_exited") / 1e3 - begin, stopped


def kill(bench):
    kills = 2 if bench.smoke else 100
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        cluster.start_worker(1)
        cluster.start_worker(1)
        pairs = [kill_one_rank(cluster, directory, number) for number in range(kills)]
    known = [pair[0] for pair in pairs]
    stopped = [pair[1] for pair in pairs]
    return [Row("kill.known", "s", known,
                note=f"kill -9 of a rank to the durable fact, {kills} kills"),
            Row("kill.known_p99", "s", [percentile(known, 0.99)], **promise("<=", 1)),
            Row("kill.gang_stopped", "s", stopped, **promise("<=", 5),
                note="kill -9 of a rank to the end of its peer's process"),
            Row("kill.gang_stopped_p99", "s", [percentile(stopped, 0.99)], **promise("<=", 5))]


def freeze_node(cluster, directory, number):
    """Freezes a worker and its rank: seconds until suspect and until the verdict."""
    job = cluster.submit(rank_job(f"freeze-{number}", directory, 2, 1, 10))
    wait_running(cluster, job)
    time.sleep(PEER_PROGRESS_SECONDS)
    nodes = cluster.get("/nodes")["nodes"]
    name = next(node["name"] for node in nodes if node["name"] == "node1")
    with frozen(cluster.node_pids(1, job, 1)) as begin:
        wait_for(lambda: state_of(cluster, name) != "ready", "the node to be suspect", 30)
        suspect = time.time() - begin
        failed = wait_for(lambda: cluster.event_time(job, "attempt_failed"), "the verdict", 60)
    end_job(cluster, job)
    wait_for(lambda: state_of(cluster, name) == "ready", "the node to return")
    return suspect, failed / 1e3 - begin


def faults(bench):
    """Faults of the control plane in the simulation, and the healthy jobs that they restarted."""
    program = next(bench.programs.glob("**/simulation_test"), None)
    if program is None:
        return [Row("faults.injected", "faults", [], note="built without tests")]
    with scratch(bench.data) as directory:
        report = directory / "report.json"
        done = subprocess.run(
            [program, "--gtest_filter=SimulationTest.ControlPlaneFaultsRestartNothing",
             f"--gtest_output=json:{report}"], capture_output=True, text=True, check=False,
            env={**os.environ, "TRAINYARD_SIMULATION_RUNS": "20" if bench.smoke else "1500"})
        if not report.exists():
            raise BenchError(f"simulation_test: {done.stderr[-500:]}")
        test = json.loads(report.read_text())["testsuites"][0]["testsuite"][0]
    return [Row("faults.injected", "faults", [int(test["faults"])],
                note="kill -9 and freezes of controller and workers, partitions, cordons; lost and "
                     "doubled messages on top; seeds 1 and on"),
            Row("faults.restarts", "restarts", [int(test["restarts"])], **promise("<=", 0),
                note="of jobs whose ranks were healthy")]


def state_of(cluster, name):
    return next(node["state"] for node in cluster.get("/nodes")["nodes"] if node["name"] == name)


def suspect(bench):
    if bench.smoke:
        return [Row("suspect.detection", "s", [], note="takes 25 s: not in the smoke run")]
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        cluster.start_worker(1)
        cluster.start_worker(1)
        pairs = [freeze_node(cluster, directory, number) for number in range(bench.repetitions)]
    return [Row("suspect.detection", "s", [pair[0] for pair in pairs],
                promised="3 s after the last heartbeat", bound=("<=", 4.2),
                note="worker and rank frozen; heartbeats come once a second, a tick every 200 ms"),
            Row("suspect.verdict", "s", [pair[1] for pair in pairs], **promise("<=", 10),
                note="the peer stalls too")]
