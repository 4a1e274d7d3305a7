"""Compares our trainer with LlamaForCausalLM of `transformers`, from the same weights, in fp32.

  python3 tests/trainer/references/llama_transformers.py --trainer PROGRAM --device cpu|gpu

Both train a small model for 20 steps; losses, gradient norms and learning rates of all steps are
compared. The initial weights come out of a checkpoint of ours, saved after one step with a learning
rate of 0, and are read with the `safetensors` package. The token file has as many samples as a step
takes, so that every step sees all of them and their order does not matter. Needs PyTorch,
`transformers` (5 or newer) and `safetensors`. Exits with 1 if a step differs.
"""
import argparse
import dataclasses
import math
import pathlib
import random
import sys
import tempfile

import torch
from safetensors.torch import load_file
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import LlamaConfig, LlamaForCausalLM

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/gpu"))
from model_shapes import ModelShape  # noqa: E402
from trainer_run import (RunPlan, TrainerRun, metrics, settings_of,  # noqa: E402
                         write_token_file)

STEPS = 20
WARMUP_STEPS = 5
RATE, LEAST_RATE, DECAY, BETAS, EPSILON = 1e-3, 1e-4, 0.1, (0.9, 0.95), 1e-8
# Below the gradient norm of the first steps, so that clipping takes part.
MAX_NORM = 0.5
# Largest relative differences. Sums in another order leave about 1e-6 of a norm.
LOSS_TOLERANCE, NORM_TOLERANCE, RATE_TOLERANCE = 1e-5, 1e-4, 1e-12
TIMEOUT_SECONDS = 300

UNTIED = ModelShape(layers=3, heads=4, key_heads=2, hidden=256, ffn=512, vocabulary=512,
                    sequence_length=64, rotary_base=5e5)
SHAPES = {"untied head": UNTIED, "tied head": dataclasses.replace(UNTIED, tied=True)}


def plan_of(name, shape, device):
    """Two micro-batches of four samples a step."""
    return RunPlan(name.replace(" ", "-"), shape, micro_batch=4, accumulation=2, device=device,
                   precision="fp32",
                   optimizer={"lr": RATE, "min_lr": LEAST_RATE, "weight_decay": DECAY,
                              "adam_beta1": BETAS[0], "adam_beta2": BETAS[1], "adam_eps": EPSILON,
                              "clip_grad": MAX_NORM})


def write_samples(directory, plan):
    """A token file of exactly plan.global_batch samples; the samples [batch, length + 1].

    Most tokens follow from the one before, so that there is something to learn.
    """
    noise, length = random.Random(7), plan.shape.sequence_length
    tokens = [0]
    for _ in range(plan.global_batch * length):
        follows = noise.random() < 0.8
        tokens.append((tokens[-1] * 5 + 7) % plan.shape.vocabulary if follows
                      else noise.randrange(plan.shape.vocabulary))
    write_token_file(directory, "train", plan.shape.vocabulary, tokens)
    return torch.tensor([tokens[first:first + length + 1]
                         for first in range(0, plan.global_batch * length, length)])


def settings(plan, data, steps, **optimizer):
    """Settings of a run that ends after `steps` with its final checkpoint."""
    changed = dataclasses.replace(plan, optimizer={**plan.optimizer, **optimizer})
    out = settings_of(changed, data, steps)
    out["schedule"]["warmup_steps"] = min(WARMUP_STEPS, steps)
    return out


def run_to_end(trainer, folder, run_settings):
    """Telemetry of rank 0, and the directory of checkpoints."""
    checkpoints = folder / "checkpoints"
    with TrainerRun(trainer, folder, run_settings, checkpoints) as run:
        return run.wait_for_end(TIMEOUT_SECONDS), checkpoints


def initial_weights(trainer, folder, plan, data):
    """Name -> tensor, as `transformers` names them."""
    still = settings(plan, data, steps=1, lr=0.0, min_lr=0.0)
    _, checkpoints = run_to_end(trainer, folder, still)
    tensors = {}
    for path in sorted(checkpoints.glob("step_*/*.safetensors")):
        tensors.update(load_file(path))
    return {name: tensor for name, tensor in tensors.items() if not name.startswith("optimizer.")}


def llama_config(shape):
    return LlamaConfig(
        vocab_size=shape.vocabulary, hidden_size=shape.hidden, intermediate_size=shape.ffn,
        num_hidden_layers=shape.layers, num_attention_heads=shape.heads,
        num_key_value_heads=shape.key_heads, max_position_embeddings=2 * shape.sequence_length,
        rms_norm_eps=shape.norm_epsilon, tie_word_embeddings=shape.tied,
        rope_parameters={"rope_type": "default", "rope_theta": shape.rotary_base})


def make_reference(shape, weights, device):
    """LlamaForCausalLM with these weights, fp32; fails when a name or a shape differs."""
    model = LlamaForCausalLM(llama_config(shape))
    missing, unknown = model.load_state_dict(weights, strict=False)
    if unknown or missing != (["lm_head.weight"] if shape.tied else []):
        raise SystemExit(f"FAIL names of tensors: missing {missing}, unknown {unknown}")
    if shape.tied:
        model.tie_weights()
    return model.float().to(device).train()


def learning_rate(step):
    """Learning rates of steps 1 to STEPS: a linear warm-up, then a cosine down to LEAST_RATE."""
    if step < WARMUP_STEPS:
        return RATE * step / WARMUP_STEPS
    progress = (step - WARMUP_STEPS) / (STEPS - WARMUP_STEPS)
    return LEAST_RATE + (RATE - LEAST_RATE) * 0.5 * (1 + math.cos(math.pi * progress))


def make_optimizer(model):
    """torch.optim.AdamW; matrices and embeddings decay, norms do not."""
    matrices = [weight for weight in model.parameters() if weight.dim() > 1]
    norms = [weight for weight in model.parameters() if weight.dim() == 1]
    return torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY},
                              {"params": norms, "weight_decay": 0.0}],
                             lr=RATE, betas=BETAS, eps=EPSILON)


def clip(parameters):
    """Scales gradients down to MAX_NORM. Returns their norm before that.

    torch.nn.utils.clip_grad_norm_ adds 1e-6 to the norm. Our trainer does not.
    """
    norms = torch.stack([weight.grad.norm() for weight in parameters])
    norm = norms.double().norm().item()
    if norm > MAX_NORM:
        for weight in parameters:
            weight.grad.mul_(MAX_NORM / norm)
    return norm


def train_reference(model, samples):
    """(loss, gradient norm, learning rate) of each step."""
    optimizer, parameters, curve = make_optimizer(model), list(model.parameters()), []
    for step in range(1, STEPS + 1):
        rate = learning_rate(step)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        # Plain attention: the fused ones have less precision in fp32 on a GPU.
        with sdpa_kernel(SDPBackend.MATH):
            loss = model(input_ids=samples, labels=samples, use_cache=False).loss
            loss.backward()
        curve.append((loss.item(), clip(parameters), rate))
        optimizer.step()
    return curve


def relative(ours, theirs):
    return abs(ours - theirs) / max(abs(theirs), 1e-30)


def compare(name, ours, theirs):
    """Prints the table of both curves; true when every step is within the tolerances."""
    print(f"\n{name}\n step   our loss      transformers  rel.      our norm    rel.")
    largest = [0.0, 0.0, 0.0]
    for step, (mine, reference) in enumerate(zip(ours, theirs, strict=True), 1):
        apart = [relative(one, other) for one, other in zip(mine, reference, strict=True)]
        largest = [max(pair) for pair in zip(largest, apart)]
        print(f"{step:5d}   {mine[0]:.9f}   {reference[0]:.9f}   {apart[0]:.1e}   "
              f"{mine[1]:.7f}   {apart[1]:.1e}")
    tolerances = (LOSS_TOLERANCE, NORM_TOLERANCE, RATE_TOLERANCE)
    passed = all(one <= tolerance for one, tolerance in zip(largest, tolerances))
    print(f"{'PASS' if passed else 'FAIL'} {name}: largest relative difference of losses "
          f"{largest[0]:.1e} (<= {LOSS_TOLERANCE:.0e}), norms {largest[1]:.1e} "
          f"(<= {NORM_TOLERANCE:.0e}), rates {largest[2]:.1e}")
    return passed


def check(name, shape, options, folder):
    """Trains both and compares them."""
    plan = plan_of(name, shape, options.device)
    samples = write_samples(folder / "data", plan)
    weights = initial_weights(options.trainer, folder / "still", plan, folder / "data")
    records, _ = run_to_end(options.trainer, folder / "run",
                            settings(plan, folder / "data", STEPS))
    ours = [(record["loss"], record["grad_norm"], record["lr"]) for record in metrics(records)]
    device = "cuda" if options.device == "gpu" else "cpu"
    model = make_reference(shape, weights, device)
    return compare(name, ours, train_reference(model, samples.to(device)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", type=pathlib.Path, required=True)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    with tempfile.TemporaryDirectory() as folder:
        passed = [check(name, shape, options, pathlib.Path(folder) / name.replace(" ", "-"))
                  for name, shape in SHAPES.items()]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
