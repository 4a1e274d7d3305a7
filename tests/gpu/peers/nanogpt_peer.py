"""GPT-2 as small PyTorch training programs train it, for the steps of tests/gpu/bench.py.

Weights are fp32, products bf16 by autocast; the model is compiled as one graph; attention is
scaled_dot_product_attention; AdamW is fused; gradients are clipped.

  python3 tests/gpu/peers/nanogpt_peer.py --model gpt2-124m --micro-batch 32

Prints a JSON line with the keys of llama_peer.py. The time of a step is the median.
"""
import argparse
import json
import pathlib
import statistics
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from llama_peer import (BETAS, DATA_BATCHES, DECAY, EPSILON, LEARNING_RATE,  # noqa: E402
                        MAX_NORM, timed_milliseconds)
from model_shapes import MODELS  # noqa: E402
from plain_decoder import PlainDecoder, make_adamw  # noqa: E402

VARIANTS = {"default": None, "autotune": "max-autotune-no-cudagraphs"}


class Training:
    """The model, its optimizer and data of noise on one GPU, ready to step."""

    def __init__(self, shape, options, variant):
        torch.manual_seed(0)
        with torch.device("cuda"):
            self.model = PlainDecoder(shape)
            self.data = torch.randint(0, shape.vocabulary, (DATA_BATCHES, options.micro_batch,
                                                            shape.sequence_length + 1))
        self.parameters = list(self.model.parameters())
        self.optimizer = make_adamw(self.model, LEARNING_RATE, BETAS, EPSILON, DECAY)
        self.loss_of = torch.compile(self.model, mode=VARIANTS[variant])
        self.accumulation = options.accumulation
        self.batch = 0

    def step(self):
        """One optimizer step; the loss of its last micro-batch."""
        for _ in range(self.accumulation):
            rows = self.data[self.batch % DATA_BATCHES]
            self.batch += 1
            with torch.autocast("cuda", torch.bfloat16):
                loss = self.loss_of(rows[:, :-1], rows[:, 1:])
            (loss / self.accumulation).backward()
        nn.utils.clip_grad_norm_(self.parameters, MAX_NORM)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()


def measure(options, variant):
    """The variant's JSON object."""
    shape = MODELS[options.model]
    training = Training(shape, options, variant)
    times = timed_milliseconds(training.step, options.warmup, options.steps)
    tenths = statistics.quantiles(times, n=10, method="inclusive")
    tokens = options.micro_batch * options.accumulation * shape.sequence_length
    median = statistics.median(times)
    return {"model": options.model,
            "variant": f"autocast, {options.micro_batch} x {options.accumulation}, {variant}",
            "tokens_per_second": 1e3 * tokens / median, "ms": median,
            "spread_ms": [tenths[0], tenths[-1]], "steps": len(times),
            "memory_gb": torch.cuda.max_memory_allocated() / 1e9,
            "state": "weights fp32, gradients fp32, moments fp32", "tokens_per_step": tokens,
            "loss": training.step().item(), "gpu": torch.cuda.get_device_name(),
            "torch": torch.__version__}


def measure_or_reason(options, variant):
    torch._dynamo.reset()
    torch.cuda.empty_cache()
    try:
        return measure(options, variant)
    except torch.cuda.OutOfMemoryError:
        return {"model": options.model, "variant": variant, "oom": True}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=["gpt2-124m"], default="gpt2-124m")
    parser.add_argument("--micro-batch", type=int, default=32, help="samples (%(default)s)")
    parser.add_argument("--accumulation", type=int, default=1, help="micro-batches a step")
    parser.add_argument("--steps", type=int, default=20, help="timed steps, at least 20")
    parser.add_argument("--warmup", type=int, default=4, help="steps before them (%(default)s)")
    parser.add_argument("--variant", action="append", choices=VARIANTS, default=[])
    options = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    for variant in options.variant or ["default"]:
        print(json.dumps(measure_or_reason(options, variant)), flush=True)


if __name__ == "__main__":
    main()
