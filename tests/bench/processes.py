"""Real processes of a cluster on loopback, and their cost."""
import contextlib
import http.client
import json
import os
import pathlib
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time

START_SECONDS = 30
ATTACH_SECONDS = 180
# Only ranks with steady progress for this long count as peer progress (controller/core/README.md).
PEER_PROGRESS_SECONDS = 12
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class BenchError(Exception):
    """A measurement that could not be made; the text says why."""


def raise_descriptor_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def wait_for(holds, what, seconds=START_SECONDS, pause=0.01):
    """Waits until the condition is true; returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(pause)
    raise BenchError(f"waited {seconds} s in vain for {what}")


@contextlib.contextmanager
def scratch(root):
    """A directory on the disk that is measured, removed afterwards."""
    root.mkdir(parents=True, exist_ok=True)
    path = pathlib.Path(tempfile.mkdtemp(dir=root))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


class Process:
    """A child whose output goes to a log file."""

    def __init__(self, arguments, log, **options):
        self.log = log
        with open(log, "ab") as file:
            self.popen = subprocess.Popen(
                [str(argument) for argument in arguments], stderr=file,
                stdout=options.pop("stdout", file), **options)

    @property
    def pid(self):
        return self.popen.pid

    def kill(self, number=signal.SIGKILL):
        if self.popen.poll() is None:
            self.popen.send_signal(number)

    def end(self, number=signal.SIGTERM, seconds=20):
        self.kill(number)
        try:
            self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            self.popen.wait()

    def cpu_seconds(self):
        return cpu_seconds(self.pid)

    def rss_bytes(self):
        return int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * PAGE


@contextlib.contextmanager
def frozen(pids):
    """Stops the processes, as on a dead machine: no connection is closed and nothing answers."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield time.time()
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # It may have been ended meanwhile.
                os.kill(pid, signal.SIGCONT)


def cpu_seconds(pid):
    """User and system time of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def cpu_percent(process, seconds, times):
    """Percent of one core in each of several stretches of time."""
    samples = []
    for _ in range(times):
        begin, cpu = time.monotonic(), process.cpu_seconds()
        time.sleep(seconds)
        samples.append(100 * (process.cpu_seconds() - cpu) / (time.monotonic() - begin))
    return samples


class Cluster:
    """A controller and workers of the build in `programs`, with their data in `directory`."""

    controller_flags = ()
    worker_metrics = "off"

    def __init__(self, programs, directory):
        self.programs = programs
        self.directory = directory
        self.address = "127.0.0.1:0"
        self.http_address = "127.0.0.1:0"
        self.controller = None
        self.workers = []
        # Every program below finds the token through this path.
        self.token_file = directory / "controller" / "token"
        os.environ["TRAINYARD_TOKEN_FILE"] = str(self.token_file)

    def __enter__(self):
        self.start_controller()
        return self

    def __exit__(self, *exception):
        for worker in self.workers:
            worker.kill(signal.SIGTERM)
        for worker in self.workers:
            worker.end()
        self.controller.end()

    def start_daemon(self, name, arguments):
        """Starts a program of the cluster that logs to NAME.log."""
        return Process(arguments, self.directory / f"{name}.log")

    def start_controller(self):
        """Starts the controller. A restart uses the same ports and returns without waiting."""
        known = not self.address.endswith(":0")
        listen = self.directory / "address"
        self.controller = self.start_daemon(
            "controller",
            [self.programs / "bin/trainyard-controller", "--listen", self.address, "--http-listen",
             self.http_address, "--data-dir", self.directory / "controller", "--listen-file",
             listen, "--log-level", "warn", *self.controller_flags])
        if known:
            return
        wait_for(lambda: (self.directory / "address.http").exists(), "the controller's address")
        self.address = listen.read_text().strip()
        self.http_address = (self.directory / "address.http").read_text().strip()

    def start_worker(self, slots):
        number = len(self.workers)
        self.workers.append(self.start_daemon(
            f"worker{number}",
            [self.programs / "bin/trainyard-worker", "--controller",
             self.controller_address_of(number), "--data-dir", self.worker_dir(number),
             "--node-name", f"node{number}", "--cpu-slots", slots, "--stop-ranks-on-exit",
             "--metrics-listen", self.worker_metrics, "--log-level", "warn"]))
        wait_for(lambda: len(self.get("/nodes")["nodes"]) == len(self.workers), "a worker")

    def controller_address_of(self, _number):
        """Address at which the worker of this number reaches the controller."""
        return self.address

    def worker_dir(self, number):
        return self.directory / f"worker{number}"

    def headers(self):
        return {"Authorization": "Bearer " + self.token_file.read_text().strip()}

    def get(self, path):
        connection = http.client.HTTPConnection(self.http_address, timeout=10)
        try:
            connection.request("GET", "/api/v1" + path, headers=self.headers())
            answer = connection.getresponse()
            body = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status != 200:
            raise BenchError(f"{path}: {body}")
        return body

    def serves(self):
        try:
            self.get("/server")
            return True
        except (OSError, http.client.HTTPException):
            return False

    def submit(self, yaml):
        file = self.directory / "job.yaml"
        file.write_text(yaml)
        done = subprocess.run(
            [self.programs / "bin/trainyard", "--server", self.address, "submit", file, "-o",
             "json"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"submit: {done.stderr}")
        return int(json.loads(done.stdout)["id"])

    def events(self, job):
        """Events of the job, oldest first, as (kind, fields, time in ms)."""
        entries = reversed(self.get(f"/jobs/{job}/events?limit=1000")["events"])
        found = []
        for entry in entries:
            event = entry["event"]
            # An event's kind is its only field that is a message.
            kind = next(key for key, value in event.items() if isinstance(value, dict))
            found.append((kind, event[kind], int(event["time_ms"])))
        return found

    def event_time(self, job, kind):
        """Time of the first event of this kind, in ms; 0 when there is none."""
        return next((time_ms for name, _, time_ms in self.events(job) if name == kind), 0)

    def rank_pid(self, worker, job, attempt, rank):
        shim = self.worker_dir(worker) / f"attempts/{job}/{attempt}/rank{rank}/shim.json"
        try:
            return json.loads(shim.read_text())["rank_pid"]
        except (OSError, ValueError, KeyError):
            return 0

    def node_pids(self, worker, job, attempt):
        """Pids of the worker and of the attempt's ranks that run on it."""
        ranks = (self.rank_pid(worker, job, attempt, rank) for rank in range(len(self.workers)))
        return [self.workers[worker].pid, *filter(None, ranks)]

    def load(self, *arguments):
        """Runs the load program to its end and returns its report."""
        done = subprocess.run(self.load_command(*arguments), capture_output=True, text=True,
                              check=False)
        report = json.loads(done.stdout or '{"error": "no report"}')
        if "error" in report:
            raise BenchError(f"{arguments}: {report['error']} {done.stderr}")
        return report

    def load_command(self, *arguments):
        command = [self.programs / "bench/trainyard-bench-load", "--controller", self.address]
        return [str(part) for part in [*command, *arguments]]


class SimulatedWorkers:
    """Workers without processes, all in one process of their own, until the block ends."""

    def __init__(self, cluster, count, slots):
        self.process = Process(
            cluster.load_command("workers", "--count", count, "--slots", slots),
            cluster.directory / "simulated.log", stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        self.wait_attached()
        return self

    def __exit__(self, *exception):
        self.process.popen.stdin.close()
        self.process.end()

    def wait_attached(self):
        """Waits until every worker has received Welcome (again); returns that time in Unix ms."""
        output = self.process.popen.stdout
        if not select.select([output], [], [], ATTACH_SECONDS)[0]:
            raise BenchError(f"not all simulated workers attached in {ATTACH_SECONDS} s")
        line = output.readline()
        if not line:
            raise BenchError("the simulated workers ended")
        return json.loads(line)["time_ms"]
