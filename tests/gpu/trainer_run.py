"""Runs trainyard-trainer without a worker: token files, settings, processes, telemetry."""
import array
import dataclasses
import json
import math
import os
import pathlib
import random
import socket
import statistics
import subprocess
import time

from model_shapes import ModelShape

POLL_SECONDS = 0.05
# Keys of telemetry without their "_seconds".
STEP_PARTS = ("compute", "optimizer", "input_wait", "tp_wait", "cp_wait", "ep_wait", "pp_wait",
              "dp_wait", "world_wait", "checkpoint_wait")
# Far more steps than any run here completes: runs are killed before their final save.
ENDLESS = 1_000_000
# The settings of Megatron-LM's recipe fp8-hybrid.
FP8_HISTORY = {"fp8_amax_history_len": 1024, "fp8_amax_compute_algo": "max"}


class RunError(Exception):
    """A run that ended too early or made no progress; the text has the end of its output."""


@dataclasses.dataclass(frozen=True)
class RunPlan:
    """One run. A step is micro_batch * accumulation * ranks samples of the model's length."""

    name: str
    shape: ModelShape
    micro_batch: int
    accumulation: int = 1
    ranks: int = 1
    device: str = "gpu"
    precision: str = "bf16"
    optimizer: dict = dataclasses.field(default_factory=dict)
    save_every: int = 0  # Steps; 0: never.
    saves: int = 1  # The run ends after so many saves, if it saves.
    layout: dict = dataclasses.field(default_factory=dict)  # Without dp and micro_batch.
    restore_layout: dict | None = None  # Layout of the run that resumes; the same when not given.
    warmup_steps: int = 4  # Steps before the timed ones.
    text: bool = False  # Trains on text instead of random tokens.
    constant_rate: bool = False  # The learning rate has no warm-up and no decay, as in the peers.
    fp8: str = ""  # `train.fp8`: delayed or current.

    @property
    def global_batch(self):
        """Samples of one optimizer step."""
        return self.micro_batch * self.accumulation * self.ranks

    @property
    def data_parallel(self):
        """dp: the ranks that the other axes leave."""
        others = [self.layout.get(axis, 1) for axis in ("tp", "cp", "pp")]
        return self.ranks // math.prod(others)

    @property
    def tokens_per_step(self):
        return self.global_batch * self.shape.sequence_length

    @property
    def state_types(self):
        """The types that the optimizer's state has in memory."""
        first = self.optimizer.get("exp_avg_dtype", "fp32")
        second = self.optimizer.get("exp_avg_sq_dtype", "fp32")
        moments = first if first == second else f"{first} and {second}"
        return f"master fp32, gradients fp32, moments {moments}"


def write_token_file(directory, split, vocabulary, tokens):
    """Writes `tokens`, ids below `vocabulary`, in the format of trainer/data/README.md."""
    narrow = vocabulary <= 1 << 16
    packed = array.array("H" if narrow else "I", tokens)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{split}.bin").write_bytes(packed.tobytes())
    (directory / f"{split}.json").write_text(json.dumps({
        "format": "trainyard-tokens", "version": 1, "dtype": "uint16" if narrow else "uint32",
        "tokens": len(packed), "vocab_size": vocabulary, "documents": 1,
        "source_bytes": len(packed), "end_of_document": 0, "xxh64": ""}))


def write_noise(directory, vocabulary, count, seed=1):
    """Token files of noise: what is measured does not depend on what they say."""
    noise = random.Random(seed)
    write_token_file(directory, "train", vocabulary, noise.choices(range(vocabulary), k=count))


def padded_vocabulary(directory):
    """Tokens of the vocabulary of token files, rounded up to a multiple of 64."""
    header = json.loads((directory / "train.json").read_text())
    return (header["vocab_size"] + 63) // 64 * 64


def model_settings(shape):
    return {"num_layers": shape.layers, "hidden_size": shape.hidden,
            "ffn_hidden_size": shape.ffn, "num_attention_heads": shape.heads,
            "num_query_groups": shape.key_heads, "vocab_size": shape.vocabulary,
            "rotary_base": shape.rotary_base, "norm_epsilon": shape.norm_epsilon,
            "untie_embeddings_and_output_weights": not shape.tied, **shape.family}


def settings_of(plan, data, steps=ENDLESS):
    """The run in the form of a job's spec.json; `data` is a directory of token files."""
    train = {"seq_length": plan.shape.sequence_length, "global_batch": plan.global_batch,
             "steps": steps, "precision": plan.precision, "log_every_steps": 1}
    if plan.fp8:
        train |= {"fp8": plan.fp8, **(FP8_HISTORY if plan.fp8 == "delayed" else {})}
    if plan.device == "cpu":
        train["threads"] = 1
    return {
        "name": plan.name,
        "resources": {"nodes": 1, "slots_per_node": plan.ranks, "device": plan.device},
        "layout": {"dp": plan.data_parallel, "micro_batch": plan.micro_batch, **plan.layout},
        "model": model_settings(plan.shape), "data": {"path": str(data)}, "train": train,
        "optimizer": {"lr": 3e-4, "min_lr": 3e-5, **plan.optimizer},
        "schedule": ({"kind": "constant"} if plan.constant_rate else
                     {"kind": "cosine", "warmup_steps": min(10, steps)}),
        "evaluation": {"every_steps": 0},
        "checkpoint": {"every_steps": plan.save_every, "keep_last": 1}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def parse_records(text):
    """The records of the whole lines: the last line may still be in the writing."""
    whole = text[:text.rfind("\n") + 1]
    return [json.loads(line) for line in whole.splitlines()]


def metrics(records):
    return [record for record in records if record["type"] == "metrics"]


def saves(records):
    """Records of published checkpoints, without those that tell of a deletion."""
    return [record for record in records
            if record["type"] == "checkpoint" and not record.get("deleted")]


def evaluations(records):
    return [record for record in records if record["type"] == "eval"]


def last_step(records):
    """Optimizer steps that the telemetry tells of; 0 before the first."""
    steps = [record["step"] for record in metrics(records)]
    return steps[-1] if steps else 0


def timed_seconds(records, warmup):
    """Seconds of each step after the first `warmup` steps of the run."""
    return [record["step_seconds"] for record in metrics(records)][warmup:]


def mean_gap_seconds(records, warmup):
    """Mean seconds from the end of one timed step to the next one's, by the records' clock.

    Longer than the steps' own times by all that happens between steps.
    """
    ends = [record["time_ms"] for record in metrics(records)][warmup:]
    return (ends[-1] - ends[0]) / 1e3 / (len(ends) - 1)


def seconds_to_first_step(records):
    """From the start of the processes to the end of the first step, libraries and all."""
    start = next(record for record in records if record["type"] == "launch")
    return (metrics(records)[0]["time_ms"] - start["time_ms"]) / 1e3


def start_parts(records):
    """Seconds of the parts of a start: until the trainer reports its first phase (libraries), and
    of each phase until the end of the first step."""
    launch = next(record for record in records if record["type"] == "launch")["time_ms"]
    first = metrics(records)[0]["time_ms"]
    phases = [(record["phase"], record["time_ms"]) for record in records
              if record["type"] == "phase" and record["time_ms"] < first]
    marks = [("libraries", launch), *phases, ("", first)]
    return {name: (end - begin) / 1e3 for (name, begin), (_, end) in zip(marks, marks[1:])}


def load_seconds(records):
    """Length of a resumed run's phase load, which reads the checkpoint into the GPUs."""
    phases = [record for record in records if record["type"] == "phase"]
    begin = next(i for i, record in enumerate(phases) if record["phase"] == "load")
    return (phases[begin + 1]["time_ms"] - phases[begin]["time_ms"]) / 1e3


def step_parts(records, warmup):
    """Seconds of the parts of a step of one rank, medians over the steps it has measured."""
    measured = {}
    for record in records:
        if record["type"] == "rank" and record["step"] > warmup and "compute_seconds" in record:
            for part in STEP_PARTS:
                measured.setdefault(part, []).append(record.get(f"{part}_seconds", 0))
    return {part: statistics.median(seconds) for part, seconds in measured.items()}


def expert_balance(records, warmup):
    """Layer -> highest load of an expert to the mean, on average over the steps after `warmup`."""
    found = {}
    for record in records:
        if record["type"] == "experts" and record["step"] > warmup:
            for layer, balance in enumerate(record["balance"], record.get("first_layer", 0)):
                found.setdefault(layer, []).append(balance)
    return {layer: statistics.mean(values) for layer, values in found.items()}


def peak_memory_gb(records):
    """Largest device memory of rank 0, in 10^9 bytes."""
    return max(record["memory_bytes"] for record in metrics(records)) / 1e9


@dataclasses.dataclass(frozen=True)
class Spread:
    """Median and the tenth and ninetieth percentile, in the unit of the samples."""

    median: float
    p10: float
    p90: float
    count: int

    @classmethod
    def of(cls, samples):
        if len(samples) < 2:
            return cls(samples[0], samples[0], samples[0], 1)
        tenths = statistics.quantiles(samples, n=10, method="inclusive")
        return cls(statistics.median(samples), tenths[0], tenths[-1], len(samples))

    def scaled(self, factor):
        return Spread(self.median * factor, self.p10 * factor, self.p90 * factor, self.count)


def visible_gpus(first, count):
    """`count` of the GPUs that the environment shows to this program, from number `first` on."""
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = shown.split(",") if shown else [str(number) for number in range(first + count)]
    if len(names) < first + count:
        raise RunError(f"needs {first + count} GPUs, but CUDA_VISIBLE_DEVICES shows {len(names)}")
    return names[first:first + count]


class TrainerRun:
    """The ranks of one run on this machine, from `with` to its end.

    The end is SIGKILL, which keeps the final checkpoint out of the measurement.
    """

    def __init__(self, trainer, folder, settings, checkpoints, resume_from="", first_gpu=0):
        """`folder` is new; `checkpoints` and `resume_from` are directories of checkpoints. The
        ranks use the GPUs from first_gpu on."""
        self._trainer = pathlib.Path(trainer).resolve()
        self._folder = pathlib.Path(folder).resolve()
        self._ranks = settings["resources"]["slots_per_node"]
        self._first_gpu = first_gpu
        self._checkpoints = checkpoints
        self._resume_from = resume_from
        self._processes = []
        self._launched_ms = 0
        self._folder.mkdir(parents=True)
        (self._folder / "spec.json").write_text(json.dumps(settings, indent=1))

    def __enter__(self):
        port = free_port()
        self._launched_ms = int(time.time() * 1e3)
        for rank in range(self._ranks):
            self._processes.append(self._start(rank, port))
        return self

    def __exit__(self, *_):
        self.kill()

    def _environment(self, rank, port):
        home = self._folder / f"rank{rank}"
        return {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(self._ranks), "LOCAL_WORLD_SIZE": str(self._ranks),
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                "CUDA_VISIBLE_DEVICES": ",".join(visible_gpus(self._first_gpu, self._ranks)),
                "TRAINYARD_RUN_DIR": str(home), "TRAINYARD_ATTEMPT": "1",
                "TRAINYARD_TELEMETRY": str(home / "telemetry.jsonl"),
                "TRAINYARD_CHECKPOINT_DIR": str(self._checkpoints),
                "TRAINYARD_RESUME_FROM": str(self._resume_from)}

    def _start(self, rank, port):
        home = self._folder / f"rank{rank}"
        home.mkdir()
        with open(home / "output.log", "wb") as output:
            return subprocess.Popen(
                [self._trainer, "--config", self._folder / "spec.json"], cwd=home,
                env=self._environment(rank, port), stdout=output, stderr=subprocess.STDOUT)

    def kill(self):
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()

    def records(self):
        """A record of our own with the time of the launch, and telemetry of rank 0 so far."""
        return [{"type": "launch", "time_ms": self._launched_ms}] + self._telemetry(0)

    def bytes_read(self):
        """Bytes that all ranks have read from files so far; what they map is not among them."""
        return sum(int(line.split()[1]) for process in self._processes
                   for line in pathlib.Path(f"/proc/{process.pid}/io").read_text().splitlines()
                   if line.startswith("rchar"))

    def parts(self, warmup):
        """A record of our own with the parts of a step of each rank."""
        return {"type": "parts", "ranks": [step_parts(self._telemetry(rank), warmup)
                                           for rank in range(self._ranks)]}

    def _telemetry(self, rank):
        path = self._folder / f"rank{rank}" / "telemetry.jsonl"
        return parse_records(path.read_text()) if path.exists() else []

    def output_end(self, rank):
        """The last lines of a rank's output."""
        lines = (self._folder / f"rank{rank}" / "output.log").read_text(errors="replace")
        return "\n".join(lines.splitlines()[-15:])

    def wait_until(self, done, seconds):
        """Records as soon as done(records) is true; RunError when a rank ends or time is up."""
        deadline = time.monotonic() + seconds
        while True:
            codes = [process.poll() for process in self._processes]
            records = self.records()
            if done(records):
                return records
            for rank, code in enumerate(codes):
                if code is not None:
                    raise RunError(f"rank {rank} ended with {code}:\n{self.output_end(rank)}")
            if time.monotonic() > deadline:
                raise RunError(f"at step {last_step(records)} after {seconds} s:\n"
                               f"{self.output_end(0)}")
            time.sleep(POLL_SECONDS)

    def wait_for_end(self, seconds):
        """Records of a run that ends by itself; RunError when a rank fails or time is up."""
        for rank, process in enumerate(self._processes):
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired as error:
                raise RunError(f"not done after {seconds} s:\n{self.output_end(rank)}") from error
            if code != 0:
                raise RunError(f"rank {rank} ended with {code}:\n{self.output_end(rank)}")
        return self.records()
