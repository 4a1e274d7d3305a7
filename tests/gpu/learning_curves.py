"""Compares learning curves of our trainer with PyTorch's, from the same weights and samples.

  python3 tests/gpu/learning_curves.py --trainer PROGRAM --data TOKENS --out DIR

For each model: our run; PyTorch with bf16 autocast and fp32 weights; the same again with one
initial weight that is 1e-6 larger; and without autocast. Rounding makes any two runs drift apart,
at first by what another rounding does to each step, later by chance. The PyTorch runs are
therefore the measure: at each step the largest distance of our losses to PyTorch's within the last
WINDOW steps may be FACTOR times the largest of the other two PyTorch runs to the first, plus FLOOR.
Writes curves-MODEL.csv and a summary in Markdown; ends with 1 when a step is outside. Needs a GPU
and PyTorch.
"""
import argparse
import array
import csv
import dataclasses
import json
import math
import mmap
import pathlib
import struct
import sys
import tempfile

from model_shapes import MODELS
from trainer_run import RunError, RunPlan, TrainerRun, last_step, metrics, settings_of

SHAPES = {"llama": "llama-124m", "gpt2": "gpt2-124m"}
RATE, LEAST_RATE, DECAY, BETAS, EPSILON, MAX_NORM = 6e-4, 6e-5, 0.1, (0.9, 0.95), 1e-8, 1.0
WARMUP_STEPS = 50
SEED = 1234
PERTURBATION = 1e-6
WINDOW, FACTOR = 50, 3.0
# In nats: the error of a loss of 10 from rounding to bf16 alone, without any drift.
FLOOR = 2e-3
WORD = (1 << 64) - 1


def mix(value):
    """Mix of trainer/data/sample_source.cpp."""
    value ^= value >> 33
    value = value * 0xff51afd7ed558ccd & WORD
    value ^= value >> 33
    value = value * 0xc4ceb9fe1a85ec53 & WORD
    return value ^ value >> 33


def permute_index(seed, epoch, size, index):
    """PermuteIndex of trainer/data/sample_source.h, which never changes."""
    if size <= 1:
        return 0
    golden, half = 0x9e3779b97f4a7c15, ((size - 1).bit_length() + 1) // 2
    mask = (1 << half) - 1
    base = mix(mix(seed + golden & WORD) ^ (epoch + golden & WORD))
    keys = [mix(base + number * golden & WORD) for number in range(6)]
    while True:
        left, right = index >> half, index & mask
        for key in keys:
            left, right = right, left ^ (mix(right ^ key) & mask)
        index = left << half | right
        if index < size:
            return index


class Samples:
    """The samples of a token directory in the order in which the trainer takes them."""

    def __init__(self, directory, length):
        header = json.loads((directory / "train.json").read_text())
        self._width = {"uint16": 2, "uint32": 4}[header["dtype"]]
        self._code = "H" if self._width == 2 else "I"
        self._length = length
        self.windows = (header["tokens"] - 1) // length
        self.vocabulary = header["vocab_size"]
        with open(directory / "train.bin", "rb") as file:
            self._tokens = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def sample(self, number):
        """length + 1 tokens."""
        window = permute_index(SEED, number // self.windows, self.windows, number % self.windows)
        first = window * self._length * self._width
        tokens = array.array(self._code)
        tokens.frombytes(self._tokens[first:first + (self._length + 1) * self._width])
        return tokens.tolist()

    def batch(self, step, size):
        """The samples of a step, from 1."""
        return [self.sample(number) for number in range((step - 1) * size, step * size)]


def distances_of(losses, others):
    """Step by step; infinite where one is no number, which `max` would not see."""
    apart = [abs(one - other) for one, other in zip(losses, others, strict=True)]
    return [math.inf if math.isnan(distance) else distance for distance in apart]


def largest_of_window(values):
    """At each step the largest value of the last WINDOW steps."""
    return [max(values[max(0, i + 1 - WINDOW):i + 1]) for i in range(len(values))]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Losses of four runs, step by step, and what they say."""

    ours: list
    torch: list
    perturbed: list
    single: list  # PyTorch without autocast.

    @property
    def distances(self):
        """Distances of our losses to PyTorch's."""
        return distances_of(self.ours, self.torch)

    @property
    def drifts(self):
        """Distances of equal PyTorch runs to each other."""
        return distances_of(self.perturbed, self.torch)

    @property
    def roundings(self):
        """Distances of PyTorch runs in two precisions to each other."""
        return distances_of(self.single, self.torch)

    @property
    def bounds(self):
        apart = [max(pair) for pair in zip(self.drifts, self.roundings)]
        return [FACTOR * distance + FLOOR for distance in largest_of_window(apart)]

    @property
    def outside(self):
        """The steps, from 1, at which ours is too far away."""
        pairs = zip(largest_of_window(self.distances), self.bounds)
        return [step for step, (distance, bound) in enumerate(pairs, 1)
                if distance > bound or math.isinf(bound)]

    def summary(self, name):
        last = slice(-WINDOW, None)
        mean = [sum(losses[last]) / len(losses[last])
                for losses in (self.ours, self.torch, self.perturbed, self.single)]
        verdict = f"FAIL at step {self.outside[0]}" if self.outside else "within"
        largest = [max(self.distances), max(self.drifts), max(self.roundings)]
        return [name, str(len(self.ours)), *(f"{value:.4f}" for value in mean + largest), verdict]


def plan_of(model, vocabulary, batch):
    rounded = (vocabulary + 63) // 64 * 64
    shape = dataclasses.replace(MODELS[SHAPES[model]], vocabulary=rounded)
    return RunPlan(f"curves-{model}", shape, micro_batch=batch,
                   optimizer={"lr": RATE, "min_lr": LEAST_RATE, "weight_decay": DECAY,
                              "adam_beta1": BETAS[0], "adam_beta2": BETAS[1], "adam_eps": EPSILON,
                              "clip_grad": MAX_NORM})


def settings(plan, data, steps, **optimizer):
    changed = dataclasses.replace(plan, optimizer={**plan.optimizer, **optimizer})
    out = settings_of(changed, data, steps)
    out["data"]["seed"] = SEED
    out["schedule"]["warmup_steps"] = min(WARMUP_STEPS, steps)
    return out


def read_safetensors(path):
    """Tensors by name, without the package `safetensors`; the trainer's files have fp32 only."""
    import torch
    raw = bytearray(pathlib.Path(path).read_bytes())
    size = struct.unpack("<Q", raw[:8])[0]
    tensors = {}
    for name, entry in json.loads(raw[8:8 + size]).items():
        if name == "__metadata__" or not name.startswith(("model.", "lm_head.")):
            continue
        first, end = (8 + size + offset for offset in entry["data_offsets"])
        assert entry["dtype"] == "F32", f"{name} has type {entry['dtype']}"
        values = torch.frombuffer(raw, dtype=torch.float32, count=(end - first) // 4, offset=first)
        tensors[name] = values.view(entry["shape"]).clone()
    return tensors


def initial_weights(options, plan, folder):
    """Weights of a checkpoint after one step with a learning rate of 0, by logical name."""
    still = settings(plan, options.data, steps=1, lr=0.0, min_lr=0.0)
    with TrainerRun(options.trainer, folder / "still", still, folder / "checkpoints") as run:
        run.wait_for_end(options.timeout)
    tensors = {}
    for path in sorted((folder / "checkpoints").glob("step_*/*.safetensors")):
        tensors.update(read_safetensors(path))
    return tensors


def run_ours(options, plan, folder):
    """(loss, learning rate) of each step."""
    run_settings = settings(plan, options.data, options.steps)
    with TrainerRun(options.trainer, folder / "run", run_settings, folder / "unused") as run:
        records = run.wait_until(lambda seen: last_step(seen) >= options.steps, options.timeout)
    return [(record["loss"], record["lr"]) for record in metrics(records)][:options.steps]


class TorchRuns:
    """PyTorch's model, compiled once a precision; each run starts from the given weights."""

    def __init__(self, plan, weights, samples):
        import torch
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
        from plain_decoder import PlainDecoder, load_weights, make_adamw
        self._torch, self._load, self._make_adamw = torch, load_weights, make_adamw
        self._plan, self._weights, self._samples = plan, weights, samples
        torch.set_float32_matmul_precision("high")  # TF32: 3 bits more than bf16.
        with torch.device("cuda"):
            self._model = PlainDecoder(plan.shape)
        self._loss_of = torch.compile(self._model)

    def losses(self, rates, perturbation=0.0, autocast=True):
        """Losses of each step. perturbation: is added to one element of the first token's vector."""
        torch, model = self._torch, self._model
        self._load(model, self._weights)
        first_token = self._samples.sample(0)[0]
        with torch.no_grad():
            model.tokens.weight[first_token, 0] += perturbation
        optimizer = self._make_adamw(model, RATE, BETAS, EPSILON, DECAY)
        losses = []
        for step, rate in enumerate(rates, 1):
            rows = torch.tensor(self._samples.batch(step, self._plan.global_batch)).cuda()
            for group in optimizer.param_groups:
                group["lr"] = rate
            with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
                loss = self._loss_of(rows[:, :-1], rows[:, 1:])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            losses.append(loss.detach())
        return torch.stack(losses).tolist()


def compare(options, model, folder):
    samples = Samples(options.data, MODELS[SHAPES[model]].sequence_length)
    plan = plan_of(model, samples.vocabulary, options.batch)
    weights = initial_weights(options, plan, folder)
    ours = run_ours(options, plan, folder)
    rates = [rate for _, rate in ours]
    runs = TorchRuns(plan, weights, samples)
    return Comparison([loss for loss, _ in ours], runs.losses(rates),
                      runs.losses(rates, perturbation=PERTURBATION),
                      runs.losses(rates, autocast=False))


def report(out, model, comparison):
    """Prints and writes the steps."""
    columns = (comparison.ours, comparison.torch, comparison.perturbed, comparison.single,
               comparison.distances, comparison.drifts, comparison.roundings, comparison.bounds)
    names = ("step", "ours", "pytorch", "perturbed", "single", "ours-pytorch", "perturbed-pytorch",
             "single-pytorch", "bound")
    with open(out / f"curves-{model}.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        print(f"\n{model}\n" + "  ".join(f"{name:>17}" for name in names))
        for step, values in enumerate(zip(*columns), 1):
            writer.writerow((step, *values))
            print(f"{step:17d}  " + "  ".join(f"{value:17.6f}" for value in values))


def as_markdown(summaries):
    head = ["model", "steps", "ours, last steps", "PyTorch", "perturbed", "without autocast",
            "largest distance of ours", "of the perturbed", "of that without autocast", "verdict"]
    lines = [head, ["---"] * len(head), *summaries]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True,
                        help="a directory of `trainyard data prepare`")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--models", default="llama,gpt2", help="(%(default)s)")
    parser.add_argument("--steps", type=int, default=300, help="(%(default)s)")
    parser.add_argument("--batch", type=int, default=32, help="samples of a step (%(default)s)")
    parser.add_argument("--timeout", type=int, default=200,
                        help="seconds that one run of ours may take (%(default)s)")
    options = parser.parse_args()
    options.models = options.models.split(",")
    unknown = [model for model in options.models if model not in SHAPES]
    if unknown:
        parser.error(f"no model {unknown[0]}; there are {', '.join(SHAPES)}")
    options.data = options.data.resolve()
    return options


def main():
    options = parse_arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    summaries, passed = [], True
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            try:
                comparison = compare(options, model, pathlib.Path(folder))
            except RunError as error:
                print(f"{model}: {error}", file=sys.stderr)
                return 1
        report(options.out, model, comparison)
        summaries.append(comparison.summary(model))
        passed = passed and not comparison.outside
        (options.out / "curves.md").write_text(as_markdown(summaries))
    print("\n" + as_markdown(summaries))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
