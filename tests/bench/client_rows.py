"""Rows of clients that are stuck: they hold a stream open and never read."""
import contextlib
import select
import socket
import subprocess
import time

from processes import BenchError, Cluster, Process, scratch, wait_for
from results import Row, promise

# 200 KiB of output a second.
TALKER = """name: talker
command: [sh, -c, 'while :; do head -c 20000 /dev/zero | tr "\\\\0" x | fold -w 99; sleep 0.1; done']
resources: {device: cpu}
"""


class Load:
    """The load program with a subcommand that runs until the block ends."""

    def __init__(self, cluster, name, *arguments):
        self.process = Process(cluster.load_command(*arguments), cluster.directory / f"{name}.log",
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        output = self.process.popen.stdout
        if not select.select([output], [], [], 60)[0] or not output.readline():
            raise BenchError("a load did not start")
        return self

    def __exit__(self, *exception):
        self.process.popen.stdin.close()
        self.process.end()


@contextlib.contextmanager
def browsers(cluster, count):
    """Event streams that are opened and never read."""
    host, port = cluster.http_address.rsplit(":", 1)
    request = (f"GET /api/v1/events/stream?topics=jobs,events,nodes HTTP/1.1\r\n"
               f"Host: {cluster.http_address}\r\n"
               f"Authorization: {cluster.headers()['Authorization']}\r\n\r\n").encode()
    open_sockets = []
    try:
        for _ in range(count):
            browser = socket.socket()
            browser.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            browser.connect((host, int(port)))
            browser.sendall(request)
            open_sockets.append(browser)
        yield
    finally:
        for browser in open_sockets:
            browser.close()


def latencies(cluster, seconds):
    """Milliseconds of one small question after the other, which the loop answers."""
    samples, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.perf_counter()
        cluster.get("/server")
        samples.append(1e3 * (time.perf_counter() - begin))
        time.sleep(0.005)
    return sorted(samples)


def worst(samples):
    return samples[int(0.99 * (len(samples) - 1))]


def measure(cluster, bench):
    """Memory and the 99th percentile of latencies, over and over."""
    rss, p99 = [], []
    for _ in range(bench.repetitions):
        p99.append(worst(latencies(cluster, 0.3 if bench.smoke else 8)))
        rss.append(cluster.controller.rss_bytes() / 2**20)
    return rss, p99


def clients(bench):
    followers, watching, slow = (4, 2, 2) if bench.smoke else (200, 150, 150)
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        cluster.start_worker(1)
        job = cluster.submit(TALKER)
        wait_for(lambda: int(cluster.get("/jobs?states=running&limit=1")["total"]) == 1, "the job")
        time.sleep(0.2 if bench.smoke else 5)
        before, quiet = measure(cluster, bench)
        with Load(cluster, "followers", "followers", "--job", job, "--count", followers), \
                browsers(cluster, watching), \
                Load(cluster, "slow", "workers", "--count", slow, "--slots", 1, "--slow"):
            # Jobs that no slow worker will ever start: their commands stay due.
            cluster.load("submit", "--prefix", "waits", "--jobs", slow, "--callers", 8)
            rss, p99 = measure(cluster, bench)
    total = followers + watching + slow
    note = (f"{total} stuck clients: {followers} of the command line that follow a job that prints "
            f"200 KiB a second, {watching} event streams, {slow} workers")
    return [Row("clients.rss_before", "MiB", before, note="without them"),
            Row("clients.rss", "MiB", rss, **promise("<=", 1024), note=note),
            Row("clients.latency_before_p99", "ms", quiet, note="a question that the loop answers"),
            Row("clients.latency_p99", "ms", p99, **promise("<=", 100), note="the same with them")]
