"""Does FP8 learn like bf16? Compares learning curves of both recipes with those of bf16.

  python3 tests/gpu/fp8_curves.py --trainer PROGRAM --data TOKENS --out DIR
  python3 tests/gpu/fp8_curves.py ... --models llama-350m --gpus 4 --together 2

All runs read the same samples in the same order. bf16 and each recipe train with the same five
seeds of initial weights. Over its seeds, the mean of a recipe's losses of the last WINDOW steps
must lie between the lowest and the highest of bf16, and so must the mean of its validation losses.
A single seed would not do: if its bf16 run is the highest, half of all equal runs lie outside.
Writes the loss of each step as CSV, and the tables in Markdown, for each model. Ends with 1 if a
recipe lies outside. If the command is killed, the same command continues from the checkpoints.
"""
import argparse
import concurrent.futures
import csv
import dataclasses
import math
import pathlib
import queue
import statistics
import sys

from model_shapes import MODELS
from trainer_run import (RunError, RunPlan, TrainerRun, evaluations, metrics, padded_vocabulary,
                         parse_records, saves, settings_of)

SEEDS = (1, 2, 3, 4, 5)
RECIPES = ("delayed", "current")
WINDOW = 100
SAMPLES, LENGTH = 16, 1024  # A step has 16,384 tokens.
OPTIMIZER = {"lr": 6e-4, "min_lr": 6e-5, "weight_decay": 0.1, "adam_beta2": 0.95, "clip_grad": 1.0}
WARMUP_STEPS = 100
DATA_SEED = 1234
SAVE_EVERY = 500
EVALUATION_SAMPLES = 256


@dataclasses.dataclass(frozen=True)
class CurveRun:
    """One run of a model. `fp8`: the recipe, or empty for bf16."""

    model: str
    seed: int
    fp8: str = ""

    @property
    def name(self):
        return f"{self.model}-{self.fp8 or 'bf16'}-{self.seed}"


def runs_of(model):
    return [CurveRun(model, seed, fp8) for seed in SEEDS for fp8 in ("", *RECIPES)]


def settings_for(run, options):
    shape = dataclasses.replace(MODELS[run.model], sequence_length=LENGTH,
                                vocabulary=padded_vocabulary(options.data))
    plan = RunPlan(run.name, shape, micro_batch=SAMPLES, optimizer=OPTIMIZER, fp8=run.fp8,
                   save_every=SAVE_EVERY)
    settings = settings_of(plan, options.data, options.steps)
    settings["train"]["seed"] = run.seed
    settings["data"]["seed"] = DATA_SEED
    settings["schedule"]["warmup_steps"] = min(WARMUP_STEPS, options.steps)
    settings["evaluation"] = {"every_steps": options.steps, "samples": EVALUATION_SAMPLES}
    return settings


class History:
    """The records of a run, in parts: a killed command leaves a part without its end."""

    def __init__(self, folder, run):
        self._folder, self._run = folder, run

    def part(self, number):
        return self._folder / f"{self._run.name}-part{number}"

    def next_part(self):
        number = 0
        while self.part(number).exists():
            number += 1
        return self.part(number)

    def records(self):
        """Records of all parts in their order."""
        found, number = [], 0
        while self.part(number).exists():
            telemetry = self.part(number) / "rank0" / "telemetry.jsonl"
            if telemetry.exists():
                found += parse_records(telemetry.read_text())
            number += 1
        return found

    def losses(self):
        """Step -> loss. A repeated step has the loss of its last repetition."""
        return {record["step"]: record["loss"] for record in metrics(self.records())}

    def validation_loss(self, step):
        """None if the run has not ended with an evaluation."""
        losses = [record["loss"] for record in evaluations(self.records())
                  if record["step"] == step]
        return losses[-1] if losses else None

    def newest_checkpoint(self):
        """Directory, or an empty text if there is none."""
        paths = [record["path"] for record in saves(self.records())]
        return next((path for path in reversed(paths) if pathlib.Path(path).is_dir()), "")


def train(run, options, gpu):
    """Completes the run, unless an earlier command has."""
    history = History(options.out, run)
    if history.validation_loss(options.steps) is not None:
        return
    print(f"fp8_curves: {run.name} on GPU {gpu}", file=sys.stderr, flush=True)
    checkpoints = options.out / f"{run.name}-checkpoints"
    with TrainerRun(options.trainer, history.next_part(), settings_for(run, options), checkpoints,
                    history.newest_checkpoint(), first_gpu=gpu) as process:
        process.wait_for_end(options.timeout)


def train_all(runs, options):
    """Trains `together` runs at a time on each GPU; raises the RunError of the first that fails."""
    free = queue.SimpleQueue()
    for place in range(options.gpus * options.together):
        free.put(place % options.gpus)

    def train_on_free_gpu(run):
        gpu = free.get()
        try:
            train(run, options, gpu)
        finally:
            free.put(gpu)

    with concurrent.futures.ThreadPoolExecutor(options.gpus * options.together) as pool:
        for future in [pool.submit(train_on_free_gpu, run) for run in runs]:
            future.result()


@dataclasses.dataclass(frozen=True)
class Figures:
    """The end of a run: the mean loss of its last steps, and its validation loss."""

    last_steps: float
    validation: float


def figures_of(losses, validation):
    """`losses` is a list by step."""
    return Figures(statistics.mean(losses[-WINDOW:]), validation)


LOSSES = [field.name for field in dataclasses.fields(Figures)]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One loss of a recipe: its mean over the seeds, and its distances to bf16 with equal seeds."""

    mean: float
    distance: float  # Mean.
    error: float  # Standard error of the mean distance.
    is_inside: bool


def compare(fp8, bf16):
    """Compares one loss; the lists have equal seeds at equal places."""
    distances = [ours - theirs for ours, theirs in zip(fp8, bf16, strict=True)]
    mean = statistics.mean(fp8)
    if math.isnan(mean):
        return Comparison(mean, math.nan, math.nan, False)
    return Comparison(mean, statistics.mean(distances),
                      statistics.stdev(distances) / len(distances) ** 0.5,
                      min(bf16) <= mean <= max(bf16))


def comparisons_of(figures, recipe):
    """Name of the loss -> Comparison. figures: run -> Figures."""
    def losses(fp8, name):
        return [getattr(value, name) for run, value in figures.items() if run.fp8 == fp8]
    return {name: compare(losses(recipe, name), losses("", name)) for name in LOSSES}


def write_curves(path, curves):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["step", *(run.name for run in curves)])
        rows = zip(*(losses for losses, _ in curves.values()))
        writer.writerows([step, *row] for step, row in enumerate(rows, 1))


def report(model, out, curves):
    """Writes the tables of the model; false if a recipe lies outside. curves: run -> (losses,
    validation loss)."""
    figures = {run: figures_of(*curve) for run, curve in curves.items()}
    lines = ["| run | last steps | validation |", "|---|---|---|"]
    lines += [f"| {run.name} | {value.last_steps:.4f} | {value.validation:.4f} |"
              for run, value in figures.items()]
    lines += ["", "| recipe | loss | mean | distance to bf16 | verdict |", "|---|---|---|---|---|"]
    passed = True
    for recipe in RECIPES:
        for name, one in comparisons_of(figures, recipe).items():
            passed = passed and one.is_inside
            lines.append(f"| {recipe} | {name} | {one.mean:.4f} | {one.distance:+.4f} +- "
                         f"{one.error:.4f} | {'inside' if one.is_inside else 'OUTSIDE'} |")
    write_curves(out / f"curves-{model}.csv", curves)
    text = "\n".join(lines) + "\n"
    (out / f"curves-{model}.md").write_text(text)
    print(text)
    return passed


def curve_of(run, options):
    history = History(options.out, run)
    losses = history.losses()
    return ([losses[step] for step in range(1, options.steps + 1)],
            history.validation_loss(options.steps))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True,
                        help="a directory of `trainyard data prepare` with train.bin and val.bin")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--models", default="llama-124m,llama-350m", help="(%(default)s)")
    parser.add_argument("--steps", type=int, default=2000, help="(%(default)s)")
    parser.add_argument("--gpus", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--together", type=int, default=1, help="runs at a time on each GPU")
    parser.add_argument("--timeout", type=int, default=3600, help="seconds of one run")
    options = parser.parse_args()
    options.models = options.models.split(",")
    unknown = [model for model in options.models if model not in MODELS]
    if unknown:
        parser.error(f"no model {unknown[0]}; there are {', '.join(MODELS)}")
    if options.steps < WINDOW:
        parser.error(f"--steps must be at least {WINDOW}")
    options.data, options.out = options.data.resolve(), options.out.resolve()
    return options


def main():
    options = parse_arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    passed = True
    for model in options.models:
        runs = runs_of(model)
        try:
            train_all(runs, options)
        except RunError as error:
            print(f"{model}: {error}", file=sys.stderr)
            return 1
        curves = {run: curve_of(run, options) for run in runs}
        passed = report(model, options.out, curves) and passed
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
