"""A controller and three workers, whose data lies on small disks of their own."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))
# pylint: disable=wrong-import-position
from processes import Cluster, Process, wait_for  # noqa: E402
from trainer_rows import write_tokens  # noqa: E402

NODES = 3
SLOTS = 6
DISK_MIB = 256


class Site(Cluster):
    """The cluster; `say` prints a line of the run's record."""

    def __init__(self, programs, directory, say):
        super().__init__(programs, directory)
        self.say = say
        self.data_lost_at = 0  # When a node last lost its data directory, by time.monotonic().
        self.tokens = directory / "tokens"
        self.tokens.mkdir()
        write_tokens(self.tokens)

    def __enter__(self):
        for node in range(NODES):
            self.worker_dir(node).mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", f"rough{node}",
                            self.worker_dir(node)], check=True)
        super().__enter__()
        for node in range(NODES):
            self.start_worker(SLOTS)
        return self

    def __exit__(self, *exception):
        super().__exit__(*exception)
        for node in range(NODES):
            subprocess.run(["umount", "-l", self.worker_dir(node)], check=False)

    def restart_worker(self, node):
        """Starts the worker of a node again, with the flags of its first start."""
        arguments = self.workers[node].popen.args
        self.workers[node].end(signal.SIGKILL)
        self.workers[node] = Process(arguments, self.directory / f"worker{node}.log")

    def revive_workers(self):
        """Starts the workers that have ended by themselves again, as systemd does."""
        for node, worker in enumerate(self.workers):
            if worker.popen.poll() is not None:
                self.say(f"worker {node} had ended with code {worker.popen.returncode}")
                self.restart_worker(node)

    def restart_controller(self):
        self.controller.end(signal.SIGKILL)
        self.start_controller()
        wait_for(self.serves, "the controller to serve again", 60)

    def cli(self, *arguments):
        """Exit code, stdout and stderr of a command."""
        done = subprocess.run(
            [self.programs / "bin/trainyard", "--server", self.address, *map(str, arguments)],
            capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr

    def cli_json(self, *arguments):
        """The answer of a command; None while the controller does not serve."""
        code, out, _ = self.cli(*arguments, "-o", "json")
        return json.loads(out) if code == 0 else None

    def try_submit(self, spec, *more):
        """Number of the job, or None with the reason in the record."""
        file = self.directory / f"{spec['name']}.yaml"
        file.write_text(json.dumps(spec))
        code, out, error = self.cli("submit", file, "-o", "json", *more)
        if code == 0:
            return int(json.loads(out)["id"])
        self.say(f"{spec['name']} was not taken ({code}): {error.strip()}")
        return None

    def job(self, number):
        """The job as `describe -o json` has it; None while the controller does not serve."""
        described = self.cli_json("describe", number)
        return described and described["job"]

    def processes(self):
        """(pid, environment) of each process that a job of this cluster has started."""
        for folder in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                variables = dict(part.split("=", 1) for part in
                                 (folder / "environ").read_text(errors="replace").split("\0")
                                 if "=" in part)
                if str(self.directory) in variables.get("TRAINYARD_RUN_DIR", ""):
                    yield int(folder.name), variables

    def shims(self, node):
        """Pids of the shims that the workers of this node have started."""
        return [pid for pid, command in commands()
                if len(command) > 1 and command[1] == "shim"
                and any(str(self.worker_dir(node)) in word for word in command)]


def commands():
    """(pid, command line) of every process."""
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(folder.name), (folder / "cmdline").read_text().split("\0")


def kill(pid, number=signal.SIGKILL):
    with contextlib.suppress(OSError):
        os.kill(pid, number)
