"""A launcher with the interface of torchrun: starts one process per rank and watches them.

    small_launcher.py [--max-restarts N] SCRIPT [ARGUMENT ...]

Reads PET_NNODES, PET_NODE_RANK, PET_NPROC_PER_NODE, PET_MASTER_ADDR and PET_MASTER_PORT, and
prints each line of rank R of this launcher with the label [defaultR]:. If a rank fails, it ends the
others and starts all of them again, at most N times. Then it prints a table, copies the rank's
error file to its own, and exits with 1.
"""
import json
import os
import signal
import subprocess
import sys
import threading

NODES = int(os.environ["PET_NNODES"])
NODE = int(os.environ["PET_NODE_RANK"])
RANKS = int(os.environ["PET_NPROC_PER_NODE"])


def forward(process, label):
    for line in process.stdout:
        sys.stdout.write(f"{label}{line}")
        sys.stdout.flush()


class Group:
    """The ranks of this launcher, started together."""

    def __init__(self, command, restarts):
        self.processes, self.threads = [], []
        for local_rank in range(RANKS):
            error_file = os.path.join(os.environ["TRAINYARD_RUN_DIR"], f"error{local_rank}.json")
            environment = dict(
                os.environ, RANK=str(NODE * RANKS + local_rank), LOCAL_RANK=str(local_rank),
                WORLD_SIZE=str(NODES * RANKS), LOCAL_WORLD_SIZE=str(RANKS),
                MASTER_ADDR=os.environ["PET_MASTER_ADDR"],
                MASTER_PORT=os.environ["PET_MASTER_PORT"],
                TORCHELASTIC_RESTART_COUNT=str(restarts), TORCHELASTIC_ERROR_FILE=error_file)
            process = subprocess.Popen([sys.executable, *command], env=environment, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.processes.append(process)
            thread = threading.Thread(target=forward, args=(process, f"[default{local_rank}]:"))
            thread.start()
            self.threads.append(thread)

    def failed(self):
        """Waits for the ranks. Returns the local rank that failed first, or None."""
        running = set(range(RANKS))
        while running:
            pid, status = os.wait()
            local_rank = [process.pid for process in self.processes].index(pid)
            self.processes[local_rank].returncode = os.waitstatus_to_exitcode(status)
            running.discard(local_rank)
            if status != 0:
                for other in running:
                    self.processes[other].terminate()
                for other in running:
                    self.processes[other].wait()
                break
        for thread in self.threads:
            thread.join()
        codes = [process.returncode for process in self.processes]
        return local_rank if codes[local_rank] != 0 else None


def report(local_rank, process):
    """Prints torchrun's table and copies the error of the rank."""
    source = os.path.join(os.environ["TRAINYARD_RUN_DIR"], f"error{local_rank}.json")
    if os.path.exists(source):
        with open(source) as error, open(os.environ["TORCHELASTIC_ERROR_FILE"], "w") as out:
            json.dump(json.load(error), out)
    print("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:")
    print("=" * 60)
    print("Root Cause (first observed failure):\n[0]:")
    print(f"  rank      : {NODE * RANKS + local_rank} (local_rank: {local_rank})")
    print(f"  exitcode  : {process.returncode} (pid: {process.pid})")
    print("=" * 60, flush=True)


def main(arguments):
    restarts_max = 0
    if arguments[0] == "--max-restarts":
        restarts_max, arguments = int(arguments[1]), arguments[2:]
    group = None

    def stop(signum, _):
        for process in group.processes:
            process.send_signal(signum)

    signal.signal(signal.SIGTERM, stop)
    for restarts in range(restarts_max + 1):
        group = Group(arguments, restarts)
        failed = group.failed()
        if failed is None:
            return 0
        if restarts < restarts_max:
            left = f"{restarts_max - restarts}/{restarts_max} attempts left"
            print(f"[default] Worker group FAILED. {left}; will restart worker group", flush=True)
    report(failed, group.processes[failed])
    return 1


sys.exit(main(sys.argv[1:]))
