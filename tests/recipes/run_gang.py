"""A gang of trainyard-trainer processes on CPU slots of this machine."""
import json
import math
import pathlib
import random
import socket
import struct
import subprocess
import tempfile

VOCABULARY = 64
DEADLINE_S = 120


def write_tokens(folder):
    """nanoGPT files of a language that can be learned: each token follows from the one before."""
    tokens = [1]
    for _ in range(8191):
        tokens.append((tokens[-1] * 5 + 7) % VOCABULARY)
    packed = struct.pack(f"<{len(tokens)}H", *tokens)
    for split in ("train", "val"):
        (folder / f"{split}.bin").write_bytes(packed)
    return folder


def free_port():
    """Below the ports that the kernel gives to connections."""
    for port in random.sample(range(11000, 19000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise OSError("no free port from 11000 to 19000")


def ranks_of(layout):
    return layout["tp"] * layout["cp"] * layout["pp"] * layout["dp"]


class Gang:
    """All ranks of one run; at the end none is left."""

    def __init__(self, trainer, spec, folder):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.processes = []
        config = self.folder / "run.json"
        config.write_text(json.dumps(spec))
        size, port = ranks_of(spec["layout"]), free_port()
        for rank in range(size):
            self._start(trainer, config, rank, size, port)

    def _start(self, trainer, config, rank, size, port):
        variables = {
            "PATH": "/usr/bin:/bin", "RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank,
            "LOCAL_WORLD_SIZE": size, "GROUP_RANK": 0, "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port, "OMP_NUM_THREADS": 1,
            "TRAINYARD_TELEMETRY": self.folder / f"telemetry_{rank}.jsonl",
            "TRAINYARD_CHECKPOINT_DIR": self.folder / "checkpoints"}
        with (self.folder / f"output_{rank}").open("wb") as output:
            self.processes.append(subprocess.Popen(
                [trainer, "--config", config], stdout=output, stderr=subprocess.STDOUT,
                env={name: str(value) for name, value in variables.items()}, cwd=self.folder))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()

    def exit_codes(self):
        return [process.wait(timeout=DEADLINE_S) for process in self.processes]

    def output(self):
        return "".join((self.folder / f"output_{rank}").read_text(errors="replace")
                       for rank in range(len(self.processes)))

    def losses(self):
        """Loss of each step, from rank 0 or the rank that reports it."""
        losses = {}
        for path in sorted(self.folder.glob("telemetry_*.jsonl")):
            for line in path.read_text().splitlines():
                record = json.loads(line)
                values = record.get("values", record)
                if "loss" in values and "step" in record:
                    losses[record["step"]] = values["loss"]
        return losses

    def stored_parameters(self):
        """Elements of the model's tensors in the checkpoint, without the biases of experts, which
        have no gradient."""
        manifest, = self.folder.glob("checkpoints/*/manifest.json")
        tensors = json.loads(manifest.read_text())["tensors"]
        return sum(math.prod(tensor["global_shape"]) for tensor in tensors
                   if not tensor["name"].startswith("optimizer.")
                   and not tensor["name"].endswith(".e_score_correction_bias"))


def command_line(program, *arguments):
    """Returns the document of `trainyard ARGUMENTS -o json`."""
    result = subprocess.run([program, *arguments, "-o", "json"], capture_output=True, text=True,
                            check=False, timeout=DEADLINE_S)
    if not result.stdout:
        raise AssertionError(f"{' '.join(map(str, arguments))}: {result.stderr}")
    return json.loads(result.stdout)
