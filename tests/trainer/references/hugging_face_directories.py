"""Imports LLaMAs that `transformers` saved, exports them, and loads the exports with `transformers`.

  python3 tests/trainer/references/hugging_face_directories.py --programs build/release/bin

For a small random model with an untied and one with a tied head, saved in shards:
  - the loss of the first step of a trainer that starts from the import equals that of
    LlamaForCausalLM on the same samples,
  - an export of the import has the same bits in every tensor, the same logits and greedy text,
  - an export in several files has them too; an export in bf16 has the bits of
    Tensor.to(torch.bfloat16).
Needs PyTorch, `transformers` (5 or newer) and `safetensors`. Exits with 1 if anything differs.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import torch
from transformers import LlamaForCausalLM

from llama_transformers import (LOSS_TOLERANCE, SHAPES, TIMEOUT_SECONDS, TrainerRun, llama_config,
                                metrics, plan_of, relative, settings, write_samples)

GREEDY_TOKENS = 32
SHARD_BYTES = 400_000


def checkpoint_program(programs, *words):
    subprocess.run([programs / "trainyard-ckpt", *map(str, words)], check=True)


def loaded(directory, dtype=torch.float32):
    return LlamaForCausalLM.from_pretrained(directory, dtype=dtype).eval()


def greedy_text(model, prompt):
    with torch.no_grad():
        return model.generate(prompt, max_new_tokens=GREEDY_TOKENS, do_sample=False,
                              eos_token_id=None, pad_token_id=0)


def trainer_loss(programs, folder, plan, imported):
    """Loss of the first step of a trainer that starts from the import and changes no weight."""
    still = settings(plan, folder / "data", steps=1, lr=0.0, min_lr=0.0)
    with TrainerRun(programs / "trainyard-trainer", folder / "run", still, folder / "checkpoints",
                    resume_from=imported) as run:
        return metrics(run.wait_for_end(TIMEOUT_SECONDS))[0]["loss"]


def same_weights(model, other):
    theirs = other.state_dict()
    return all(torch.equal(tensor, theirs[name]) for name, tensor in model.state_dict().items())


def compare_exports(programs, folder, model, samples):
    """Description -> equality, of exports of the import."""
    checkpoint_program(programs, "export", folder / "imported", folder / "one")
    checkpoint_program(programs, "export", folder / "imported", folder / "several",
                       f"--shard-bytes={SHARD_BYTES}")
    checkpoint_program(programs, "export", folder / "imported", folder / "narrow", "--dtype=bf16")
    one, prompt = loaded(folder / "one"), samples[:2, :8]
    with torch.no_grad():
        logits = torch.equal(one(prompt).logits, model(prompt).logits)
    return {"weights": same_weights(model, one),
            "logits": logits,
            "greedy text": torch.equal(greedy_text(one, prompt), greedy_text(model, prompt)),
            "weights of several files": same_weights(model, loaded(folder / "several")),
            "weights in bf16": same_weights(model.to(torch.bfloat16),
                                            loaded(folder / "narrow", torch.bfloat16))}


def check(name, shape, programs, folder):
    """True when everything is the same; prints a line for each comparison."""
    plan = plan_of(name, shape, "cpu")
    samples = write_samples(folder / "data", plan)
    torch.manual_seed(1)
    model = LlamaForCausalLM(llama_config(shape)).float().eval()
    model.save_pretrained(folder / "saved", max_shard_size=SHARD_BYTES)
    checkpoint_program(programs, "import", folder / "saved", folder / "imported")
    with torch.no_grad():
        theirs = model(input_ids=samples, labels=samples).loss.item()
    apart = relative(trainer_loss(programs, folder, plan, folder / "imported"), theirs)
    results = {f"loss, {apart:.1e} apart": apart <= LOSS_TOLERANCE}
    results |= compare_exports(programs, folder, model, samples)
    for what, is_same in results.items():
        print(f"{'PASS' if is_same else 'FAIL'} {name}: {what}")
    return all(results.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        passed = [check(name, shape, options.programs.resolve(),
                        pathlib.Path(folder) / name.replace(" ", "-"))
                  for name, shape in SHAPES.items()]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
