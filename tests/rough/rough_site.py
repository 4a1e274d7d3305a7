"""A controller and three workers: small disks, wires that can be cut and clocks of their own."""
import contextlib
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))
# pylint: disable=wrong-import-position
from processes import Cluster, Process, wait_for  # noqa: E402
from trainer_rows import write_tokens  # noqa: E402

NODES = 3
SLOTS = 6
# Sizes of the small disks, and the maximum number of files and directories on each disk.
DISKS_MIB = {**{f"worker{node}": 256 for node in range(NODES)}, "controller": 1024,
             "saves": 64}
DISK_FILES = 20_000
COMMAND_SECONDS = 120


class Site(Cluster):
    """The cluster; `record` takes what is to be said of the run."""

    worker_metrics = "127.0.0.1:0"

    def __init__(self, programs, directory, record):
        super().__init__(programs, directory)
        self.record = record
        self.say = record.say
        self.blame = record.blame
        self.data_lost_at = 0  # When a node last lost its data directory, by time.monotonic().
        self.quarantined = {}  # Node id -> when it was first seen in quarantine.
        self.wires = None
        self.ports = []
        self.tokens = directory / "tokens"
        self.tokens.mkdir()
        self.controller_flags = ("--checkpoint-root", directory / "checkpoints")
        write_tokens(self.tokens)

    def __enter__(self):
        self.mount_disks()
        self.make_clocks()
        super().__enter__()
        self.string_wires()
        for _ in range(NODES):
            self.start_worker(SLOTS)
        return self

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.wires.stdin.close()
        self.wires.wait()
        for name in DISKS_MIB:
            subprocess.run(["umount", "-l", self.directory / name], check=False)

    # ---- What the site is built on

    def mount_disks(self):
        for name, size in DISKS_MIB.items():
            disk = self.directory / name
            disk.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o",
                            f"size={size}m,nr_inodes={DISK_FILES},mode=0700", f"rough-{name}",
                            disk], check=True)

    def make_clocks(self):
        self.clock_library = self.directory / "clock.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", self.clock_library,
                        HERE / "clock.c"], check=True)
        for name in ("controller", *(f"worker{node}" for node in range(NODES))):
            self.shift_clock(name, 0)

    def shift_clock(self, daemon, seconds):
        """Sets the wall clock of a daemon this far from the machine's."""
        # Overwrites the file in place, because the daemon has mapped it.
        file = os.open(self.directory / f"{daemon}.clock", os.O_RDWR | os.O_CREAT)
        os.pwrite(file, struct.pack("=q", int(seconds * 1000)), 0)
        os.close(file)

    def string_wires(self):
        self.wires = subprocess.Popen(
            [sys.executable, HERE / "wires.py", self.address.rpartition(":")[2], str(NODES)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True)
        self.ports = self.wires.stdout.readline().split()

    def set_wire(self, node, mode):
        self.wires.stdin.write(f"{node} {mode}\n")
        self.wires.stdin.flush()

    def controller_address_of(self, number):
        return f"127.0.0.1:{self.ports[number]}"

    # ---- Daemons

    def start_daemon(self, name, arguments):
        """Starts it with a clock of its own."""
        environment_of_it = {**os.environ, "LD_PRELOAD": str(self.clock_library),
                             "ROUGH_CLOCK": str(self.directory / f"{name}.clock")}
        if name.startswith("worker"):
            # The wires relay its connection.
            environment_of_it["TRAINYARD_INSECURE"] = "1"
        return Process(arguments, self.directory / f"{name}.log", env=environment_of_it)

    def restart_worker(self, node, number=signal.SIGKILL):
        """Starts the worker of a node again, with the flags of its first start."""
        self.workers[node].end(number, 60)
        self.start_worker_again(node)

    def start_worker_again(self, node):
        self.workers[node] = self.start_daemon(f"worker{node}", self.workers[node].popen.args)

    def revive_workers(self):
        """Starts the workers that have ended by themselves again, as systemd does."""
        for node, worker in enumerate(self.workers):
            if worker.popen.poll() is not None:
                self.say(f"worker {node} had ended with code {worker.popen.returncode}")
                self.record.count("workers revived")
                self.restart_worker(node)

    def stop_controller(self):
        self.controller.end(signal.SIGKILL)

    def restart_controller(self):
        self.stop_controller()
        self.start_controller()
        self.await_controller()

    def await_controller(self):
        wait_for(self.serves, "the controller to serve again", 60)

    def end_quarantines(self, after_seconds):
        """Releases the nodes that have been in quarantine for so long, as an operator who has
        looked at them: quarantine lasts longer than the run, and would leave it a node less."""
        for node in self.cli_json("nodes") or []:
            quarantine = (node.get("health") or {}).get("quarantine")
            if quarantine is None:
                self.quarantined.pop(node["id"], None)
                continue
            since = self.quarantined.setdefault(node["id"], time.monotonic())
            if time.monotonic() - since < after_seconds:
                continue
            self.say(f"{node['name']} leaves quarantine: {quarantine.get('reason')}")
            if self.cli("node", "release", node["id"])[0] == 0:
                self.record.count("quarantines ended")

    # ---- Commands

    def cli(self, *arguments, address=None, token_file=None):
        """Exit code, stdout and stderr of a command; the code is None when it has not ended."""
        variables = {**os.environ, "TRAINYARD_TOKEN_FILE": str(token_file or self.token_file)}
        command = [self.programs / "bin/trainyard", "--server", address or self.address,
                   *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=variables,
                                  timeout=COMMAND_SECONDS, check=False, errors="replace")
        except subprocess.TimeoutExpired:
            self.blame(f"`trainyard {arguments[0]}` has not answered in {COMMAND_SECONDS} s")
            return None, "", ""
        return done.returncode, done.stdout, done.stderr

    def cli_json(self, *arguments, **options):
        """The answer of a command; None while the controller does not serve."""
        code, out, _ = self.cli(*arguments, "-o", "json", **options)
        return json.loads(out) if code == 0 else None

    def try_submit(self, spec, *more):
        """Number of the job, or None with the reason in the record."""
        file = self.directory / f"{spec['name']}.yaml"
        file.write_text(json.dumps(spec))
        code, out, error = self.cli("submit", file, "-o", "json", *more)
        file.unlink()
        if code == 0:
            return int(json.loads(out)["id"])
        self.say(f"{spec['name']} was not taken ({code}): {error.strip()}")
        return None

    def job(self, number):
        """The job as `describe -o json` has it; None while the controller does not serve."""
        described = self.cli_json("describe", number)
        return described and described["job"]

    def checkpoints_of(self, number, name):
        """The directory of a job that names none."""
        return self.directory / "checkpoints" / f"{number}-{name}"

    # ---- Processes

    def processes(self):
        """(pid, environment) of each process that a job of this cluster has started."""
        for folder in pathlib.Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            variables = environment(folder.name)
            if str(self.directory) in variables.get("TRAINYARD_RUN_DIR", ""):
                yield int(folder.name), variables

    def shims(self, node):
        """Pids of the shims that the workers of this node have started."""
        return [pid for pid, command in commands()
                if len(command) > 1 and command[1] == "shim"
                and any(str(self.worker_dir(node)) in word for word in command)]


def environment(pid):
    """The variables with which a process was started; empty once it has ended."""
    with contextlib.suppress(OSError):
        text = pathlib.Path(f"/proc/{pid}/environ").read_text(errors="replace")
        return dict(part.split("=", 1) for part in text.split("\0") if "=" in part)
    return {}


def commands():
    """(pid, command line) of every process."""
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(folder.name), (folder / "cmdline").read_text(errors="replace").split("\0")


def kill(pid, number=signal.SIGKILL):
    with contextlib.suppress(OSError):
        os.kill(pid, number)
