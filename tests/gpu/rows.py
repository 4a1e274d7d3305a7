"""The rows of tests/gpu/bench.py, and the measurement of ours and of the peers."""
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import predictions
from bench_row import Result
from dense_rows import DENSE_ROWS
from mixture_rows import MIXTURE_ROWS, with_forced_balance
from trainer_run import (RunError, Spread, TrainerRun, expert_balance, last_step, load_seconds,
                         mean_gap_seconds, metrics, padded_vocabulary, peak_memory_gb, saves,
                         seconds_to_first_step, settings_of, start_parts, timed_seconds,
                         write_noise)

HERE = pathlib.Path(__file__).resolve().parent
WARMUP_STEPS = 4  # Steps of the peers that are not timed.
NOISE_TOKENS = 2_000_000
LONG_START_SECONDS = 5  # The table shows the parts of a start that takes longer.

ROWS = {row.plan.name: row for row in (*DENSE_ROWS, *MIXTURE_ROWS)}
MIXTURES = {row.plan.name for row in MIXTURE_ROWS}
DEFAULT_ROWS = [name for name in ROWS
                if name != "tiny-cpu" and not name.startswith("plan-") and name not in MIXTURES]


def fits(row, gpus):
    """True when a machine with so many GPUs can run the row."""
    return row.plan.device == "cpu" or row.plan.ranks <= gpus


class Bench:
    """Options of the command, and the results so far."""

    def __init__(self, options):
        self.trainer = options.trainer
        self.out = options.out
        self.scratch = options.scratch
        self.steps = options.steps
        self.timeout = options.timeout
        self.peers = options.peers
        self.text = options.text
        self.cli = options.cli
        self.device = options.plan_device
        self.results = {}
        self.measured = {}  # Figures of our runs, by the text of the plan without its name.

    @property
    def timed_steps(self):
        return self.steps - WARMUP_STEPS

    def text_shape(self, shape):
        """The shape with a vocabulary as large as the text's."""
        if self.text is None:
            raise RunError("needs --text, a directory of `trainyard data prepare`")
        return dataclasses.replace(
            shape, vocabulary=max(shape.vocabulary, padded_vocabulary(self.text)))

    def tokens(self, plan):
        """Directory of the plan's token files; random ones are made when they are not there."""
        if plan.text:
            return self.text.resolve()
        shape = plan.shape
        directory = self.scratch / f"tokens-{shape.vocabulary}"
        if not (directory / "train.json").exists():
            write_noise(directory, shape.vocabulary, NOISE_TOKENS)
        return directory

    def new_folder(self, name):
        """Path of an empty folder's place: what an earlier command left there is gone."""
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def start(self, plan, folder, checkpoints, resume_from=""):
        """A run to be used in a `with` statement."""
        settings = settings_of(plan, self.tokens(plan))
        return TrainerRun(self.trainer, folder, settings, checkpoints, resume_from)


def run_ours(bench, plan):
    """Telemetry of a run of the plan until it has all that its row needs."""
    wanted_saves = 0
    if plan.save_every:
        wanted_saves = plan.saves

    def is_done(records):
        steps = plan.warmup_steps + bench.timed_steps
        # Most steps have no record of the experts' loads.
        has_loads = not plan.shape.experts or expert_balance(records, plan.warmup_steps)
        return last_step(records) >= steps and len(saves(records)) >= wanted_saves and has_loads

    checkpoints = bench.scratch / f"checkpoints-{plan.name}"
    try:
        with bench.start(plan, bench.new_folder(plan.name), checkpoints) as run:
            records = run.wait_until(is_done, bench.timeout)
            records.append(run.parts(plan.warmup_steps))
            read_before = run.bytes_read()
        if plan.save_every:
            records.append(restore(bench, plan, checkpoints, saves(records)[-1], read_before))
        if plan.restore_layout is not None:
            records.append(restore_from_disk(bench, plan, checkpoints, saves(records)[-1]))
        return records
    finally:
        shutil.rmtree(checkpoints, ignore_errors=True)


def restore(bench, plan, checkpoints, save, read_before=0):
    """Resumes from a checkpoint until the first step; a record of how long reading it took.

    `read_before`: bytes that a run reads which resumes from nothing.
    """
    folder = bench.new_folder(f"{plan.name}-restore")
    resumed = plan
    if plan.restore_layout is not None:
        resumed = dataclasses.replace(plan, layout=plan.restore_layout)
    with bench.start(resumed, folder, checkpoints, save["path"]) as run:
        records = run.wait_until(metrics, bench.timeout)
        bytes_read = run.bytes_read()
    return {"type": "restore", "seconds": load_seconds(records), "bytes": save["bytes"],
            "bytes_read": bytes_read - read_before, "start": start_parts(records),
            "first_step_seconds": seconds_to_first_step(records)}


def evict(directory):
    """Drops the files of a directory, which are on disk, from the page cache."""
    for path in pathlib.Path(directory).iterdir():
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def restore_from_disk(bench, plan, checkpoints, save):
    """Like `restore`, of files that are not in the page cache, and how long dd takes to read them."""
    evict(save["path"])
    record = restore(bench, plan, checkpoints, save)
    evict(save["path"])
    start = time.monotonic()
    for path in sorted(pathlib.Path(save["path"]).glob("*.safetensors")):
        subprocess.run(["dd", f"if={path}", "of=/dev/null", "bs=16M"], check=True,
                       capture_output=True)
    return {**record, "type": "disk", "dd_seconds": time.monotonic() - start}


def ours_of(plan, records):
    """The figures of a run: tokens/s and ms of a step, memory in 10^9 bytes."""
    seconds = timed_seconds(records, plan.warmup_steps)
    spread = Spread.of(seconds).scaled(1e3)
    return {"tokens_per_second": plan.tokens_per_step / statistics.median(seconds),
            "ms": spread.median, "spread_ms": [spread.p10, spread.p90], "steps": spread.count,
            "gap_ms": 1e3 * mean_gap_seconds(records, plan.warmup_steps),
            "first_step_seconds": seconds_to_first_step(records), "start": start_parts(records),
            "memory_gb": peak_memory_gb(records), "state": plan.state_types,
            "tokens_per_step": plan.tokens_per_step, "last_loss": metrics(records)[-1]["loss"],
            "balance": expert_balance(records, plan.warmup_steps),
            "parts": next((r["ranks"] for r in records if r["type"] == "parts"), [])}


def stall_figures(records, save_every):
    """Delays of training by saves, in % of a median step.

    `blocking` is the time that the trainer itself reports for each save. `slowdown` is by the
    clock: by how much the step before the save, the save and the three steps after it take longer
    than four other steps; copies share the GPU's memory with the steps. The step before the save
    counts because its end is reported early: usually, the trainer reports a step only after it has
    queued the next one, which at 1.5B is 190 ms after the end of the step.
    """
    step_seconds = statistics.median(timed_seconds(records, WARMUP_STEPS))
    ends = {record["step"]: record["time_ms"] / 1e3 for record in metrics(records)}
    gaps = [ends[step] - ends[step - 1] for step in ends if step - 1 in ends and
            step % save_every > 3]
    usual = statistics.median(gaps)
    slowdown = [100 * (ends[save["step"] + 3] - ends[save["step"] - 1] - 4 * usual) / usual
                for save in saves(records) if {save["step"] - 1, save["step"] + 3} <= ends.keys()]
    restored = next(record for record in records if record["type"] == "restore")
    return {"restore": restored, "slowdown": slowdown,
            "blocking": [100 * save["blocking_seconds"] / step_seconds for save in saves(records)],
            "update_wait": longest_wait(records, save_every) / step_seconds * 100,
            "write_seconds": [save["total_seconds"] for save in saves(records)],
            # Saves that were due while the previous save was still being written.
            "late": sum(record.get("code") == "checkpoint_late" for record in records)}


def longest_wait(records, save_every):
    """Longest time, in seconds, for which an update of rank 0 has waited for a save. The trainer
    measures about one step per second, so the steps after some saves are not measured."""
    return max((record.get("checkpoint_wait_seconds", 0) for record in records
                if record["type"] == "rank" and 0 < record["step"] % save_every <= 3), default=0)


def peer_command(row, steps):
    """The command that measures the row's peers."""
    settings = ["--model", row.model, "--micro-batch", str(row.plan.micro_batch),
                "--accumulation", str(row.plan.accumulation),
                "--steps", str(steps), "--warmup", str(WARMUP_STEPS)]
    if row.plan.ranks > 1:
        return [sys.executable, "-m", "torch.distributed.run", "--standalone",
                "--nproc_per_node", str(row.plan.ranks), HERE / "peers/fsdp_peer.py", *settings]
    command = [sys.executable, HERE / "peers" / row.peer_program, *settings]
    for variant in row.peers:
        command += ["--variant", variant]
    return command


def run_peers(bench, row):
    """The lines of the row's peer program, also those before a time-out; raises nothing."""
    folder = bench.out / row.plan.name
    folder.mkdir(parents=True, exist_ok=True)
    peers = row.peers[:1] if bench.peers == "first" else row.peers
    command = peer_command(dataclasses.replace(row, peers=peers), bench.timed_steps)
    with open(folder / "peers.jsonl", "w") as lines, open(folder / "peers.log", "w") as log:
        try:
            subprocess.run(command, stdout=lines, stderr=log, timeout=bench.timeout, check=False)
        except subprocess.TimeoutExpired:
            print(f"bench: peers of {row.plan.name} stopped after {bench.timeout} s",
                  file=sys.stderr)
    text = (folder / "peers.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def compared_peers(bench, row):
    """`all`, `first` or `none` of the row's peers; all of one peer if the command asks for the
    first."""
    return "all" if bench.peers == "first" and len(row.peers) <= 1 else bench.peers


def rate_of(bench, plan):
    """tokens/s of our run of the plan: of an equal run of this command, or measured now."""
    key = repr(dataclasses.replace(plan, name=""))
    if key not in bench.measured:
        bench.measured[key] = ours_of(plan, run_ours(bench, plan))
    return bench.measured[key]["tokens_per_second"]


def alone(plan):
    """The plan on one GPU."""
    return dataclasses.replace(plan, name=f"{plan.name}-alone", ranks=1, layout={})


def forced(plan):
    """The plan with forced balance, which needs no steps on text to settle."""
    return dataclasses.replace(plan, name=f"{plan.name}-forced", warmup_steps=WARMUP_STEPS,
                               shape=with_forced_balance(plan.shape))


def in_bf16(plan):
    """The plan without FP8."""
    return dataclasses.replace(plan, name=f"{plan.name}-bf16", fp8="")


def value_of(bench, result):
    """The row's value in the unit of its target; None without a peer to compare with."""
    kind, rate = result.row.value, result.ours["tokens_per_second"]
    if kind == "tokens":
        return rate
    if kind == "reshard":
        return result.ours["reshard"]["bytes_read"] / result.ours["reshard"]["bytes"]
    if kind == "stall":
        return statistics.median(result.ours["stall"]["slowdown"])
    if kind == "start":
        return result.ours["resumed"]["first_step_seconds"]
    if kind == "scaling":
        return rate / (result.row.plan.ranks * rate_of(bench, alone(result.row.plan)))
    if kind == "forced":
        return rate / rate_of(bench, forced(result.row.plan))
    if kind == "bf16":
        return rate / rate_of(bench, in_bf16(result.row.plan))
    return rate / result.best_peer["tokens_per_second"] if result.best_peer else None


def stall_note(stall):
    """The saves one by one, in % of a median step."""
    blocking = ", ".join(f"{percent:.2f}" for percent in stall["blocking"])
    slowdown = ", ".join(f"{percent:.1f}" for percent in stall["slowdown"])
    seconds = statistics.median(stall["write_seconds"])
    size = stall["restore"]["bytes"] / 1e9
    return (f"saves block {blocking} % of a step (median "
            f"{statistics.median(stall['blocking']):.2f}, at most 1); with the steps around "
            f"them they take {slowdown} % of a step more; updates have waited up to "
            f"{stall['update_wait']:.1f} %; a checkpoint of {size:.1f} GB is written in "
            f"{seconds:.1f} s and, from the page cache, read in {stall['restore']['seconds']:.1f} "
            f"s; {stall['late']} late")


def reshard_figures(records):
    """Seconds and bytes in which another layout's ranks read a checkpoint."""
    cached = next(record for record in records if record["type"] == "restore")
    disk = next(record for record in records if record["type"] == "disk")
    return {"bytes": cached["bytes"], "bytes_read": cached["bytes_read"],
            "cached_seconds": cached["seconds"], "disk_seconds": disk["seconds"],
            "dd_seconds": disk["dd_seconds"]}


def reshard_note(figures):
    size = figures["bytes"]
    rates = {name: size / 1e9 / figures[f"{name}_seconds"] for name in ("cached", "disk", "dd")}
    return (f"a checkpoint of {size / 1e9:.1f} GB is read in {figures['cached_seconds']:.1f} s from "
            f"the page cache ({rates['cached']:.1f} GB/s), in {figures['disk_seconds']:.1f} s from "
            f"disk ({rates['disk']:.2f} GB/s; dd {rates['dd']:.2f} GB/s)")


def resumed_note(resumed):
    size, seconds = resumed["bytes"] / 1e9, resumed["seconds"]
    return (f"with a checkpoint of {size:.1f} GB in the page cache, read in {seconds:.1f} s "
            f"({size / seconds:.1f} GB/s): {start_note(resumed['start'])}")


def start_note(parts):
    return "start, s: " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in parts.items())


def parts_note(parts):
    """The parts of a step that take a thousandth of it, in ms, for each rank."""
    notes = []
    for rank, seconds in enumerate(parts):
        total = sum(seconds.values())
        shown = [f"{part.replace('_', ' ')} {1e3 * value:.1f}" for part, value in seconds.items()
                 if value > total / 1e3]
        notes.append(f"rank {rank}: {', '.join(shown) or 'nothing measured'}")
    return "ms of a step: " + "; ".join(notes)


def balance_note(balance):
    """Highest load to the mean, layer by layer."""
    layers = ", ".join(f"layer {layer} {value:.2f}" for layer, value in balance.items())
    return f"highest load of an expert to the mean: {layers}"


def notes_of(result):
    """Remarks on our run that its figures alone do not tell."""
    ours, notes = result.ours, []
    outside = 100 * (ours["gap_ms"] / ours["ms"] - 1)
    if outside > 2:
        notes.append(f"steps lie {outside:.1f} % further apart than they take")
    if "stall" in ours:
        notes.append(stall_note(ours["stall"]))
    if "resumed" in ours:
        notes.append(resumed_note(ours["resumed"]))
    if "reshard" in ours:
        notes.append(reshard_note(ours["reshard"]))
    if ours["balance"]:
        notes.append(balance_note(ours["balance"]))
    elif result.row.plan.shape.experts:
        notes.append("the trainer reported no load of experts")
    if ours["first_step_seconds"] > LONG_START_SECONDS:
        notes.append(start_note(ours["start"]))
    if len(ours["parts"]) > 1:
        notes.append(parts_note(ours["parts"]))
    return "; ".join(notes)


def measure_ours(bench, result):
    """Runs the row's plan, or takes the figures of an equal run of this command."""
    plan = result.row.plan
    key = repr(dataclasses.replace(plan, name=""))
    if plan.save_every == 0 and key in bench.measured:
        result.ours = bench.measured[key]
        return
    records = run_ours(bench, plan)
    result.ours = bench.measured[key] = ours_of(plan, records)
    if result.row.value == "stall":
        result.ours["stall"] = stall_figures(records, plan.save_every)
    if result.row.value == "start":
        result.ours["resumed"] = next(r for r in records if r["type"] == "restore")
    if result.row.value == "reshard":
        result.ours["reshard"] = reshard_figures(records)


def predict(bench, row):
    """The planner's figures for the row's run, if the command names a planner."""
    if bench.cli is None or row.plan.device == "cpu":
        return None
    spec = bench.new_folder(f"{row.plan.name}-plan") / "spec.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps(settings_of(row.plan, bench.tokens(row.plan))))
    return predictions.predicted(bench.cli, spec, row.plan.ranks, bench.device)


def measure(bench, row):
    """The row's result; a run that fails gives one that says why."""
    result = Result(row)
    try:
        if row.plan.text:
            plan = dataclasses.replace(row.plan, shape=bench.text_shape(row.plan.shape))
            result.row = row = dataclasses.replace(row, plan=plan)
        measure_ours(bench, result)
        result.note = notes_of(result)
        result.predicted = predict(bench, row)
    except RunError as error:
        result.note = f"not measured: {error}"
    result.compared = compared_peers(bench, row)
    if row.peers and bench.peers != "none":
        result.peers = run_peers(bench, row)
        if not result.peers:
            result.note += f" no peer: see {bench.out / row.plan.name / 'peers.log'}"
    if result.ours:
        try:
            result.value = value_of(bench, result)
        except RunError as error:
            result.note = f"alone: {error}"
    return result


def unmeasured(row, gpus):
    """The result of a row that needs more GPUs than the machine has."""
    return Result(row, lacks_gpus=True,
                  note=f"not measured: needs {row.plan.ranks} GPUs, this machine has {gpus}")
