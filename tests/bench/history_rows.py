"""Rows of a controller with 1,000 running and 1,000,000 ended jobs, whose archive is written directly."""
import subprocess
import time

from process_rows import spawn_milliseconds
from processes import BenchError, Cluster, scratch, wait_for
from results import Row, promise


def write_history(bench, cluster, ended, running):
    """Writes the store of a controller that has started once and was killed. Seconds that it took."""
    begin = time.time()
    subprocess.run([str(bench.programs / "bench/trainyard-bench-history"), "--data-dir",
                    str(cluster.directory / "controller"), "--ended", str(ended), "--running",
                    str(running)], check=True)
    return time.time() - begin


def restart(cluster):
    """Seconds from the start of the program to its first answer."""
    cluster.controller.kill()
    cluster.controller.popen.wait()
    begin = time.time()
    cluster.start_controller()
    wait_for(cluster.serves, "the controller to serve again", 60, 0.002)
    return time.time() - begin


def query_ms(cluster, path, times):
    samples = []
    for _ in range(times):
        begin = time.perf_counter()
        cluster.get(path)
        samples.append(1e3 * (time.perf_counter() - begin))
    return samples


def check(cluster, ended, running):
    total = int(cluster.get("/jobs?limit=1")["total"])
    if total != ended + running:
        raise BenchError(f"the list counts {total} jobs instead of {ended + running}")
    found = int(cluster.get("/jobs?limit=1&states=running")["total"])
    if found != running:
        raise BenchError(f"{found} jobs run instead of {running}")
    if int(cluster.get("/jobs/1")["job"]["id"]) != 1:
        raise BenchError("job 1 is not found")


def history(bench):
    ended, running = (2000, 20) if bench.smoke else (1_000_000, 1000)
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        wait_for(cluster.serves, "the controller")
        cluster.controller.kill()
        cluster.controller.popen.wait()
        written = write_history(bench, cluster, ended, running)
        serving = [restart(cluster) for _ in range(bench.repetitions)]
        rss = cluster.controller.rss_bytes() / 2**20
        program = [str(bench.programs / "bin/trainyard"), "--server", cluster.address]
        runs = 8 * bench.repetitions
        ps = spawn_milliseconds([*program, "ps"], runs)
        ps_all = spawn_milliseconds([*program, "ps", "--all"], runs)
        pages = {name: query_ms(cluster, path, bench.repetitions) for name, path in {
            "middle": f"/jobs?limit=100&cursor={ended // 2}",
            "failed": "/jobs?limit=100&states=failed",
            "by_name": "/jobs?limit=100&order=name",
            "describe": f"/jobs/{ended // 3}",
            "search": "/jobs?limit=100&text=experiment-77777",
            "report": "/report?by=user"}.items()}
        check(cluster, ended, running)
        rss_after_queries = cluster.controller.rss_bytes() / 2**20
        disk = (directory / "controller/events.db").stat().st_size / 2**30
    note = f"{running:,} running and {ended:,} ended jobs"
    return [Row("history.serving", "s", serving, **promise("<=", 2),
                note=f"kill -9 with {note}; start to the first answer"),
            Row("history.rss", "MiB", [rss], note=f"after the start with {note}"),
            Row("history.rss_queried", "MiB", [rss_after_queries],
                note="after the queries of these rows: pages of the store that were read"),
            Row("history.ps", "ms", ps, **promise("<=", 50), note="`trainyard ps`"),
            Row("history.ps_all", "ms", ps_all, note="`trainyard ps --all`: its first page"),
            Row("history.page", "ms", pages["middle"],
                note="REST, 100 jobs from the middle, as the next rows"),
            Row("history.page_failed", "ms", pages["failed"], note="the newest failed ones"),
            Row("history.page_by_name", "ms", pages["by_name"], note="in order of names"),
            Row("history.describe", "ms", pages["describe"], note="one archived job with events"),
            Row("history.search", "ms", pages["search"],
                note="a text in name or description: reads every name, not bounded"),
            Row("history.report", "ms", pages["report"],
                note="the ledger by user: reads the time of every job, not bounded"),
            Row("history.disk", "GiB", [disk], note="events.db, two events a job"),
            Row("history.written", "s", [written], note="not a promise: making the history")]
