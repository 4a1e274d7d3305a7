"""The strongest PyTorch for the steps that tests/gpu/bench.py measures.

The model is compiled as one graph or block by block; q, k and v are one product, gate and up
another; attention is scaled_dot_product_attention, which takes cuDNN's on Hopper; AdamW is fused.
Products are in bf16, or those of the blocks in FP8 (`torch._scaled_mm`). A step is `accumulation`
micro-batches forward and backward, clipping, AdamW.

  python3 tests/gpu/peers/llama_peer.py --model llama-1.5b --micro-batch 16 --weights fp32,bf16
  python3 tests/gpu/peers/llama_peer.py --model llama3-8b --variant weights=bf16,micro_batch=2

Prints a JSON line for each variant: tokens_per_second; ms and spread_ms (p10 and p90) of a step by
CUDA events; memory_gb, the peak of allocated memory in 10^9 bytes; the types of the state. One
that does not fit has "oom": true.
"""
import argparse
import dataclasses
import gc
import itertools
import json
import pathlib
import statistics
import sys

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from model_shapes import MODELS  # noqa: E402

COMPUTE = torch.bfloat16
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
# Rows per chunk if the head's product is computed in chunks.
HEAD_ROWS = 8192
DATA_BATCHES = 8
LEARNING_RATE, BETAS, EPSILON, DECAY, MAX_NORM = 3e-4, (0.9, 0.95), 1e-8, 0.1, 1.0


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to train the model. `moments` is the type of AdamW's moments: that of the weights
    unless it is given."""

    micro_batch: int
    accumulation: int = 1
    weights: str = "fp32"
    moments: str = ""
    scope: str = "whole"  # whole: one graph; block: a graph for each block and one for the head
    head: str = "full"  # full: all logits at once; chunked: HEAD_ROWS rows of them
    tuning: str = "default"  # autotune: inductor times several kernels for each product
    products: str = "bf16"  # of the blocks; fp8: a scale for each tensor, from the tensor itself

    CHOICES = {"weights": ("fp32", "bf16"), "moments": ("", "fp32", "bf16"),
               "scope": ("whole", "block"), "head": ("full", "chunked"),
               "tuning": ("default", "autotune"), "products": ("bf16", "fp8")}

    def __post_init__(self):
        for field, choices in self.CHOICES.items():
            if getattr(self, field) not in choices:
                raise ValueError(f"{field} is one of {', '.join(filter(None, choices))}")

    @property
    def moment_type(self):
        return self.moments or self.weights

    @property
    def name(self):
        parts = [f"{self.scope} {self.weights} weights",
                 f"{self.micro_batch} x {self.accumulation}"]
        if self.moment_type != self.weights:
            parts.append(f"{self.moment_type} moments")
        if self.head != "full":
            parts.append(f"{self.head} head")
        if self.tuning != "default":
            parts.append(self.tuning)
        if self.products != "bf16":
            parts.append(f"{self.products} products")
        return ", ".join(parts)

    @property
    def state(self):
        return f"weights {self.weights}, gradients {self.weights}, moments {self.moment_type}"


class ComputeLinear(nn.Linear):
    """A product in COMPUTE, whatever the type of the weights."""

    def forward(self, x):
        return F.linear(x, self.weight.to(COMPUTE))


class Fp8Linear(nn.Linear):
    """A product of FP8 copies, and so are its gradients; the result is in COMPUTE."""

    def forward(self, x):
        rows = Fp8Product.apply(x.flatten(0, -2), self.weight.to(COMPUTE))
        return rows.unflatten(0, x.shape[:-1])


LINEARS = {"bf16": ComputeLinear, "fp8": Fp8Linear}


def to_fp8(matrix, dtype):
    """A copy in FP8 whose largest element is the type's largest, and the factor that undoes it."""
    largest = torch.finfo(dtype).max
    scale = largest / matrix.abs().amax().float().clamp(min=1e-12)
    return (matrix.float() * scale).clamp(-largest, largest).to(dtype), scale.reciprocal()


def by_columns(matrix):
    """The matrix with its columns one after the other in memory: FP8 products need it so."""
    return matrix.t().contiguous().t()


class Fp8Product(torch.autograd.Function):
    """x [rows, in] times the transpose of weight [out, in]. Gradients have the format E5M2."""

    @staticmethod
    def forward(context, x, weight):
        (x8, x_factor), (weight8, weight_factor) = (to_fp8(matrix, torch.float8_e4m3fn)
                                                    for matrix in (x, weight))
        context.save_for_backward(x8, x_factor, weight8, weight_factor)
        return torch._scaled_mm(x8, weight8.t(), x_factor, weight_factor, out_dtype=COMPUTE,
                                use_fast_accum=True)

    @staticmethod
    def backward(context, gradient):
        x8, x_factor, weight8, weight_factor = context.saved_tensors
        gradient8, factor = to_fp8(gradient, torch.float8_e5m2)
        of_x = torch._scaled_mm(gradient8, by_columns(weight8), factor, weight_factor,
                                out_dtype=COMPUTE)
        of_weight = torch._scaled_mm(gradient8.t().contiguous(), by_columns(x8), factor, x_factor,
                                     out_dtype=COMPUTE)
        return of_x, of_weight


class RmsNorm(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), self.epsilon)


def rotate(x, cos, sin):
    """x [batch, heads, length, head size] turned by angles [length, head size / 2]."""
    first, second = x.float().chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1).type_as(x)


def attend(query, key, value):
    """Causal attention of [batch, heads, length, size], to [batch, length, all heads]."""
    has_groups = query.shape[1] != key.shape[1]
    heads = F.scaled_dot_product_attention(query, key, value, is_causal=True,
                                           enable_gqa=has_groups)
    return heads.transpose(1, 2).flatten(2)


class Attention(nn.Module):
    """Grouped heads of x [batch, length, hidden]."""

    def __init__(self, shape, linear=ComputeLinear):
        super().__init__()
        self.heads, self.key_heads, self.head_size = shape.heads, shape.key_heads, shape.head_size
        packed = (shape.heads + 2 * shape.key_heads) * shape.head_size
        self.query_key_value = linear(shape.hidden, packed, bias=False)
        self.output = linear(shape.heads * shape.head_size, shape.hidden, bias=False)
        has_norms = shape.family.get("qk_layernorm", False)
        self.query_norm, self.key_norm = (
            RmsNorm(shape.head_size, shape.norm_epsilon) if has_norms else nn.Identity()
            for _ in range(2))

    def forward(self, x, cos, sin):
        packed = self.query_key_value(x).view(*x.shape[:2], -1, self.head_size).transpose(1, 2)
        query, key, value = packed.split([self.heads, self.key_heads, self.key_heads], 1)
        query, key = self.query_norm(query), self.key_norm(key)
        return self.output(attend(rotate(query, cos, sin), rotate(key, cos, sin), value))


class Mlp(nn.Module):
    """SwiGLU of one width."""

    def __init__(self, hidden, width, linear=ComputeLinear):
        super().__init__()
        self.gate_up = linear(hidden, 2 * width, bias=False)
        self.down = linear(width, hidden, bias=False)

    def forward(self, x):
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(F.silu(gate) * up)


class Block(nn.Module):
    """Attention and a feed-forward layer, each behind a norm and added to x [batch, length,
    hidden]."""

    def __init__(self, shape, attention, ffn):
        super().__init__()
        self.attention_norm = RmsNorm(shape.hidden, shape.norm_epsilon)
        self.attention = attention
        self.ffn_norm = RmsNorm(shape.hidden, shape.norm_epsilon)
        self.ffn = ffn

    def forward(self, x, cos, sin):
        x = x + self.attention(self.attention_norm(x), cos, sin)
        return x + self.ffn(self.ffn_norm(x))


class ChunkedHeadLoss(torch.autograd.Function):
    """Mean cross-entropy of hidden [rows, width] times weight [vocabulary, width].

    Gradients are made in the forward pass, so that no more than HEAD_ROWS rows of logits exist.
    """

    @staticmethod
    def forward(context, hidden, weight, targets):
        classes = torch.arange(weight.shape[0], device=weight.device)
        loss = torch.zeros((), device=hidden.device)
        hidden_gradients = []
        weight_gradient = torch.zeros_like(weight, dtype=torch.float32)
        for rows, target in zip(hidden.split(HEAD_ROWS), targets.split(HEAD_ROWS)):
            logits = (rows @ weight.t()).float()
            log_sum = logits.logsumexp(1, keepdim=True)
            loss = loss + (log_sum - logits.gather(1, target[:, None])).sum()
            hits = (classes == target[:, None]).float()
            gradient = (((logits - log_sum).exp() - hits) / hidden.shape[0]).to(hidden.dtype)
            hidden_gradients.append(gradient @ weight)
            weight_gradient = weight_gradient + gradient.t() @ rows
        context.save_for_backward(torch.cat(hidden_gradients), weight_gradient.to(weight.dtype))
        return loss / hidden.shape[0]

    @staticmethod
    def backward(context, upstream):
        hidden_gradient, weight_gradient = context.saved_tensors
        return hidden_gradient * upstream, weight_gradient * upstream, None


class Head(nn.Module):
    """Mean cross-entropy of the next tokens: x [batch, length, hidden], targets [batch, length]."""

    def __init__(self, shape, chunked):
        super().__init__()
        self.norm = RmsNorm(shape.hidden, shape.norm_epsilon)
        self.product = nn.Linear(shape.hidden, shape.vocabulary, bias=False)
        self.chunked = chunked

    def forward(self, x, targets):
        hidden, weight = self.norm(x).flatten(0, 1), self.product.weight.to(COMPUTE)
        if self.chunked:
            return ChunkedHeadLoss.apply(hidden, weight, targets.flatten())
        return F.cross_entropy(F.linear(hidden, weight).float(), targets.flatten())


def angles_of(shape, device=None):
    """Cosines and sines of the rotary angles, [length, head size / 2] each."""
    powers = torch.arange(0, shape.head_size, 2, device=device).float() / shape.head_size
    angles = torch.outer(torch.arange(shape.sequence_length, device=device).float(),
                         1.0 / shape.rotary_base ** powers)
    return angles.cos(), angles.sin()


class Llama(nn.Module):
    """Returns the loss divided by the number of micro-batches."""

    def __init__(self, shape, variant):
        super().__init__()
        linear = LINEARS[variant.products]
        self.embedding = nn.Embedding(shape.vocabulary, shape.hidden)
        self.blocks = nn.ModuleList(
            Block(shape, Attention(shape, linear), Mlp(shape.hidden, shape.ffn, linear))
            for _ in range(shape.layers))
        self.head = Head(shape, variant.head == "chunked")
        self.scale = 1.0 / variant.accumulation
        self.cos, self.sin = angles_of(shape)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, targets):
        x = self.embedding(tokens).to(COMPUTE)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return self.head(x, targets) * self.scale


def update_weight(weight, gradient, first, second, scalars, decay):
    """One AdamW update; `scalars` has the step's size and the root of its second correction."""
    step_size, root_correction = scalars
    wide = gradient.float()
    mean = first.float().lerp(wide, 1 - BETAS[0])
    square = second.float().lerp(wide * wide, 1 - BETAS[1])
    first.copy_(mean)
    second.copy_(square)
    decayed = weight.float() * (1 - LEARNING_RATE * decay)
    weight.copy_(decayed - step_size * mean / (square.sqrt() / root_correction + EPSILON))


class MixedAdamW:
    """AdamW with moments of another type than the weights: torch.optim's fused one refuses it."""

    def __init__(self, groups, moment_type):
        self.groups, self.count = groups, 0
        self.update = torch.compile(update_weight, dynamic=False)
        self.moments = [[(torch.zeros_like(weight, dtype=moment_type),
                          torch.zeros_like(weight, dtype=moment_type))
                         for weight in group["params"]] for group in groups]

    @torch.no_grad()
    def step(self):
        self.count += 1
        for group, moments in zip(self.groups, self.moments):
            device = group["params"][0].device
            # GPU tensors, because a function of numbers would be compiled again in every step.
            scalars = (torch.full((), LEARNING_RATE / (1 - BETAS[0] ** self.count), device=device),
                       torch.full((), (1 - BETAS[1] ** self.count) ** 0.5, device=device))
            for weight, (first, second) in zip(group["params"], moments):
                self.update(weight, weight.grad, first, second, scalars, group["weight_decay"])

    def zero_grad(self, set_to_none=True):
        for group in self.groups:
            for weight in group["params"]:
                weight.grad = None


def make_optimizer(model, variant):
    """AdamW that lets matrices decay, and norms not."""
    matrices = [weight for weight in model.parameters() if weight.dim() > 1]
    norms = [weight for weight in model.parameters() if weight.dim() == 1]
    groups = [{"params": matrices, "weight_decay": DECAY}, {"params": norms, "weight_decay": 0.0}]
    if variant.moment_type != variant.weights:
        return MixedAdamW(groups, TYPES[variant.moment_type])
    return torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=BETAS, eps=EPSILON, fused=True)


def compiled(model, variant):
    """The model's loss function; blocks are compiled in place."""
    mode = None if variant.tuning == "default" else "max-autotune-no-cudagraphs"
    if variant.scope == "whole":
        return torch.compile(model, fullgraph=True, mode=mode)
    for index, block in enumerate(model.blocks):
        model.blocks[index] = torch.compile(block, fullgraph=True, mode=mode)
    model.head = torch.compile(model.head, fullgraph=True, mode=mode)
    return model


class Training:
    """The model, its optimizer and data of noise on one GPU, ready to step."""

    def __init__(self, shape, variant, device="cuda"):
        torch.manual_seed(0)
        with torch.device(device):
            self.model = self.build(shape, variant)
            self.data = torch.randint(0, shape.vocabulary, (DATA_BATCHES, variant.micro_batch,
                                                            shape.sequence_length + 1))
        for parameter in self.model.parameters():  # Not the buffers: their type matters.
            parameter.data = parameter.data.to(TYPES[variant.weights])
        self.parameters = list(self.model.parameters())
        self.optimizer = make_optimizer(self.model, variant)
        self.loss_of = compiled(self.model, variant)
        self.accumulation = variant.accumulation
        self.batch = 0

    @staticmethod
    def build(shape, variant):
        """The model, which returns the loss divided by the number of micro-batches."""
        return Llama(shape, variant)

    def step(self):
        """One optimizer step; the loss of its last micro-batch."""
        for _ in range(self.accumulation):
            rows = self.data[self.batch % DATA_BATCHES]
            self.batch += 1
            loss = self.loss_of(rows[:, :-1], rows[:, 1:])
            loss.backward()
        self.update()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach() * self.accumulation

    def update(self):
        """Clips the gradients and updates the weights."""
        nn.utils.clip_grad_norm_(self.parameters, MAX_NORM)
        self.optimizer.step()


def timed_milliseconds(step, warmup, steps):
    """Milliseconds of each of `steps` steps by CUDA events, after `warmup` others."""
    for _ in range(warmup):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    torch.cuda.synchronize()
    return [before.elapsed_time(after) for before, after in itertools.pairwise(events)]


def measure(model, variant, options, training_type):
    """The variant's JSON object."""
    shape = MODELS[model]
    training = training_type(shape, variant)
    times = timed_milliseconds(training.step, options.warmup, options.steps)
    tenths = statistics.quantiles(times, n=10, method="inclusive")
    tokens = variant.micro_batch * variant.accumulation * shape.sequence_length
    median = statistics.median(times)
    return {"model": model, "variant": variant.name, "tokens_per_second": 1e3 * tokens / median,
            "ms": median, "spread_ms": [tenths[0], tenths[-1]], "steps": len(times),
            "memory_gb": torch.cuda.max_memory_allocated() / 1e9, "state": variant.state,
            "tokens_per_step": tokens, "loss": training.step().item(),
            "gpu": torch.cuda.get_device_name(), "torch": torch.__version__}


def measure_or_reason(model, variant, options, training_type):
    torch._dynamo.reset()
    gc.collect()
    torch.cuda.empty_cache()
    try:
        return measure(model, variant, options, training_type)
    except torch.cuda.OutOfMemoryError:
        return {"model": model, "variant": variant.name, "oom": True}
    except Exception as error:  # One variant that fails must not take the others' lines.
        reason = f"{type(error).__name__}: {error}"
        return {"model": model, "variant": variant.name, "error": reason[:400]}


def parse_variant(text, defaults):
    """A Variant from "key=value,..." over the defaults, a Variant."""
    changes = {}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if key not in {field.name for field in dataclasses.fields(defaults)}:
            raise ValueError(f"no setting {key}")
        changes[key] = int(value) if key in ("micro_batch", "accumulation") else value
    return dataclasses.replace(defaults, **changes)


def parse_arguments(variant_type, description):
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--micro-batch", type=int, default=16, help="samples (%(default)s)")
    parser.add_argument("--accumulation", type=int, default=1, help="micro-batches a step")
    parser.add_argument("--steps", type=int, default=20, help="timed steps, at least 20")
    parser.add_argument("--warmup", type=int, default=4, help="steps before them (%(default)s)")
    for field, choices in variant_type.CHOICES.items():
        parser.add_argument(f"--{field}", default=getattr(variant_type, field),
                            help=f"{' or '.join(filter(None, choices))}, or several with commas")
    parser.add_argument("--variant", action="append", default=[], metavar="KEY=VALUE,...",
                        help="a variant that differs from these; repeat it for several")
    options = parser.parse_args()
    if options.steps < 20:
        parser.error("--steps must be at least 20")
    return options, variants_of(options, parser, variant_type)


def variants_of(options, parser, variant_type):
    """All combinations of the flags; with --variant each of these over the first combination."""
    lists = [getattr(options, field).split(",") for field in variant_type.CHOICES]
    try:
        combinations = [variant_type(options.micro_batch, options.accumulation,
                                     **dict(zip(variant_type.CHOICES, values)))
                        for values in itertools.product(*lists)]
        return [parse_variant(text, combinations[0]) for text in options.variant] or combinations
    except ValueError as error:
        parser.error(str(error))


def main(variant_type=Variant, training_type=Training, description=__doc__):
    options, variants = parse_arguments(variant_type, description)
    torch.set_float32_matmul_precision("high")
    for variant in variants:
        result = measure_or_reason(options.model, variant, options, training_type)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
