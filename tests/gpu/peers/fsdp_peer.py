"""The strongest PyTorch on several GPUs: FSDP2, each block a shard and a compiled graph.

The model of llama_peer.py. Weights, gradients and moments are fp32 and sharded over all GPUs;
products and gathered weights are bf16, sums of gradients fp32, as torchtitan trains by default.

  python3 -m torch.distributed.run --standalone --nproc_per_node 2 tests/gpu/peers/fsdp_peer.py \\
    --model llama3-8b --micro-batch 1 --accumulation 4

Rank 0 prints a JSON line like those of llama_peer.py; tokens are those of all GPUs.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import llama_peer  # noqa: E402
from llama_peer import DATA_BATCHES, MAX_NORM, MODELS, Llama, Variant  # noqa: E402


def sharded(shape, accumulation, device):
    """The model with initial values, its weights sharded over all ranks."""
    with torch.device("meta"):
        model = Llama(shape, Variant(micro_batch=1, accumulation=accumulation, head="chunked"))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for part in (*model.blocks, model.head):
        part.compile(fullgraph=True)
        fully_shard(part, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    model.to_empty(device=device)
    for weight in model.parameters():
        if weight.dim() == 2:
            nn.init.normal_(weight, std=0.02)
        else:
            nn.init.ones_(weight)
    model.cos, model.sin = llama_peer.angles_of(shape, device)
    return model


class Training:
    """The model, its optimizer and data of noise, ready to step."""

    def __init__(self, shape, options, device):
        torch.manual_seed(dist.get_rank())
        self.model = sharded(shape, options.accumulation, device)
        self.optimizer = llama_peer.make_optimizer(self.model, Variant(options.micro_batch))
        self.data = torch.randint(0, shape.vocabulary, (DATA_BATCHES, options.micro_batch,
                                                        shape.sequence_length + 1), device=device)
        self.accumulation = options.accumulation
        self.batch = 0

    def step(self):
        """One optimizer step; the loss of its last micro-batch on this rank."""
        for _ in range(self.accumulation):
            rows = self.data[self.batch % DATA_BATCHES]
            self.batch += 1
            loss = self.model(rows[:, :-1], rows[:, 1:])
            loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), MAX_NORM)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach() * self.accumulation


def measure(options, device):
    """The JSON object of this run."""
    shape = MODELS[options.model]
    training = Training(shape, options, device)
    times = llama_peer.timed_milliseconds(training.step, options.warmup, options.steps)
    tenths = statistics.quantiles(times, n=10, method="inclusive")
    median = statistics.median(times)
    tokens = (options.micro_batch * options.accumulation * dist.get_world_size()
              * shape.sequence_length)
    return {"model": options.model, "variant": f"FSDP2, {options.micro_batch} x "
            f"{options.accumulation}", "tokens_per_second": 1e3 * tokens / median, "ms": median,
            "spread_ms": [tenths[0], tenths[-1]], "steps": len(times),
            "memory_gb": torch.cuda.max_memory_allocated() / 1e9,
            "state": "weights, gradients, moments fp32, sharded", "tokens_per_step": tokens,
            "loss": training.step().item(), "gpu": torch.cuda.get_device_name(),
            "torch": torch.__version__}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--micro-batch", type=int, default=1)
    parser.add_argument("--accumulation", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=4)
    options = parser.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.set_float32_matmul_precision("high")
    dist.init_process_group("nccl", device_id=device)
    result = measure(options, device)
    if dist.get_rank() == 0:
        print(json.dumps(result), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
