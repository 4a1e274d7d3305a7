"""Tiny models of every Hugging Face family, with logits and gradients computed by `transformers`.

  python3 tests/trainer/references/families.py tests/trainer/references/families
      Writes FAMILY/config.json, FAMILY/model.safetensors (of one family in shards) and
      FAMILY/expected.safetensors: input_ids [2, 16], logits, loss (mean cross entropy of the next
      token) and "gradient.NAME" for each parameter. tests/trainer/families_test.cpp compares the
      trainer with them.
  python3 tests/trainer/references/families.py tests/trainer/references/families --check EXPORTS
      Loads EXPORTS/FAMILY, which `trainyard ckpt export` wrote of an import, and compares names and
      bits of the tensors in the files, bits of the loaded weights, logits and greedy text with
      those of the original. Exits with 1 if anything differs.

Needs PyTorch, `transformers` (late 4 or 5) and `safetensors`; runs on a CPU.
"""
import argparse
import pathlib
import shutil
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file

LAYERS, HIDDEN, HEADS, KEY_HEADS, VOCABULARY, POSITIONS = 2, 32, 4, 2, 61, 32
SAMPLES, LENGTH, PROMPT, GREEDY_TOKENS = 2, 16, 8, 20
SPREAD = 0.2
SHARDED, SHARD_SIZE = "llama", "20KB"
EXPECTED = "expected.safetensors"
HAS_ROPE_PARAMETERS = int(transformers.__version__.split(".")[0]) >= 5


def rotary(base, scaling=None):
    """Keys of rotary positions, as the installed version names them."""
    if HAS_ROPE_PARAMETERS:
        return {"rope_parameters": {"rope_theta": base, **(scaling or {"rope_type": "default"})}}
    return {"rope_theta": base, "rope_scaling": scaling}


def partial_rotary(base, part):
    """Rope settings for GPT-NeoX, whose heads rotate only the first `part` of their elements."""
    if HAS_ROPE_PARAMETERS:
        return {"rope_parameters": {"rope_type": "default", "rope_theta": base,
                                    "partial_rotary_factor": part}}
    return {"rotary_emb_base": base, "rotary_pct": part}


def sizes(**others):
    return dict(vocab_size=VOCABULARY, hidden_size=HIDDEN, num_hidden_layers=LAYERS,
                num_attention_heads=HEADS, max_position_embeddings=4 * POSITIONS,
                bos_token_id=None, eos_token_id=None, pad_token_id=None, **others)


# The first of four frequencies (base 100, heads of 8) is kept, the second lies between the two
# factors, and the others are divided.
SCALING = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 32}


def qwen3(is_tied):
    """Heads of 6, where hidden_size / num_attention_heads would be 8."""
    return transformers.Qwen3Config(**sizes(
        intermediate_size=24, num_key_value_heads=KEY_HEADS, head_dim=6, rms_norm_eps=1e-6,
        tie_word_embeddings=is_tied, use_sliding_window=False, **rotary(10000.0)))


# The second of the two frequencies (base 100, 4 rotated elements) is divided. Scores are multiplied
# by (1 + 0.1 ln 40)^2, and the rotated elements by (1 + 0.07 ln 40) / (1 + 0.1 ln 40).
YARN = {"rope_type": "yarn", "factor": 40.0, "beta_fast": 2.0, "beta_slow": 1.0, "mscale": 0.7,
        "mscale_all_dim": 1.0, "original_max_position_embeddings": 32}
LATENT = dict(kv_lora_rank=12, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=6,
              num_key_value_heads=HEADS, intermediate_size=24, moe_intermediate_size=8,
              first_k_dense_replace=1, rms_norm_eps=1e-6, tie_word_embeddings=False)


def deepseek_v3(query_rank, scaling):
    return transformers.DeepseekV3Config(**sizes(
        q_lora_rank=query_rank, n_routed_experts=8, num_experts_per_tok=2, n_group=4, topk_group=2,
        n_shared_experts=1, routed_scaling_factor=2.5, norm_topk_prob=True, **LATENT,
        **rotary(100.0, scaling)))


def configs():
    """Family -> configuration."""
    return {
        "llama": transformers.LlamaConfig(**sizes(
            intermediate_size=24, num_key_value_heads=KEY_HEADS, rms_norm_eps=1e-5,
            tie_word_embeddings=False, **rotary(10000.0))),
        "llama31": transformers.LlamaConfig(**sizes(
            intermediate_size=24, num_key_value_heads=KEY_HEADS, rms_norm_eps=1e-5,
            tie_word_embeddings=True, **rotary(100.0, SCALING))),
        "qwen3_tied": qwen3(True),
        "qwen3_untied": qwen3(False),
        "olmo": transformers.OlmoConfig(**sizes(
            intermediate_size=24, tie_word_embeddings=True, clip_qkv=None, **rotary(10000.0))),
        "gpt2": transformers.GPT2Config(
            vocab_size=VOCABULARY, n_embd=HIDDEN, n_layer=LAYERS, n_head=HEADS,
            n_positions=POSITIONS, activation_function="gelu_new", bos_token_id=None,
            eos_token_id=None, pad_token_id=None),
        "gpt_neox": transformers.GPTNeoXConfig(**sizes(
            intermediate_size=40, hidden_act="gelu", use_parallel_residual=True,
            tie_word_embeddings=False, **partial_rotary(100.0, 0.25))),
        "mixtral": transformers.MixtralConfig(**sizes(
            intermediate_size=24, num_key_value_heads=KEY_HEADS, rms_norm_eps=1e-5,
            num_local_experts=4, num_experts_per_tok=2, sliding_window=None,
            tie_word_embeddings=False, **rotary(10000.0))),
        "qwen3_moe": transformers.Qwen3MoeConfig(**sizes(
            intermediate_size=24, moe_intermediate_size=16, num_key_value_heads=KEY_HEADS,
            head_dim=6, rms_norm_eps=1e-6, num_experts=8, num_experts_per_tok=3,
            norm_topk_prob=True, tie_word_embeddings=False, use_sliding_window=False,
            **rotary(10000.0))),
        "deepseek_v3": deepseek_v3(10, YARN),
        "deepseek_v3_no_query_rank": deepseek_v3(None, None),
        "deepseek_v2_lite": transformers.DeepseekV2Config(**sizes(
            q_lora_rank=None, n_routed_experts=8, num_experts_per_tok=3, n_shared_experts=2,
            topk_method="greedy", routed_scaling_factor=1.0, norm_topk_prob=False, **LATENT,
            **rotary(10000.0))),
        # The files in the repository are from qwen2.py.
        "qwen2": transformers.Qwen2Config(**sizes(
            intermediate_size=24, num_key_value_heads=KEY_HEADS, rms_norm_eps=1e-6,
            tie_word_embeddings=True, use_sliding_window=False, **rotary(10000.0))),
    }


def fill(model, seed):
    """Random values, none of which is the 0 or 1 that a new model has."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            values = SPREAD * torch.randn(parameter.shape, generator=generator)
            is_norm_weight = parameter.dim() == 1 and name.endswith("weight")
            parameter.copy_(values + 1 if is_norm_weight else values)
        for name, bias in sorted(model.named_buffers()):
            if name.endswith("e_score_correction_bias"):
                bias.copy_(torch.rand(bias.shape, generator=generator))


def new_model(config, seed):
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("eager")
    model = model.float().eval()
    fill(model, seed)
    return model


def gradients(model):
    """Gradients by the names of parameters; for experts, which transformers 5 stacks in memory, by
    the names in files."""
    if not hasattr(model.config, "num_experts_per_tok"):
        return {name: parameter.grad for name, parameter in model.named_parameters()}
    with torch.no_grad(), tempfile.TemporaryDirectory() as directory:
        for parameter in model.parameters():
            parameter.copy_(parameter.grad)
        model.save_pretrained(directory)
        return {name: tensor for name, tensor in tensors_of(pathlib.Path(directory)).items()
                if not name.endswith("e_score_correction_bias")}


def expected(model, seed):
    """Logits, loss and gradients for random tokens."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, VOCABULARY, (SAMPLES, LENGTH), generator=generator)
    logits = model(input_ids=tokens, use_cache=False).logits
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    tensors = {"input_ids": tokens, "logits": logits.detach(), "loss": loss.detach().reshape(1)}
    for name, gradient in gradients(model).items():
        tensors["gradient." + name] = gradient
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


def is_part(path):
    return path.suffix == ".safetensors" or path.name in ("config.json",
                                                          "model.safetensors.index.json")


def write(family, config, directory, seed):
    shutil.rmtree(directory, ignore_errors=True)
    model = new_model(config, seed)
    model.save_pretrained(directory, **({"max_shard_size": SHARD_SIZE} if family == SHARDED
                                        else {}))
    for path in directory.iterdir():
        if not is_part(path):
            path.unlink()
    tensors = expected(model, seed + 1000)
    save_file(tensors, directory / EXPECTED)
    size = sum(path.stat().st_size for path in directory.iterdir())
    print(f"{family}: loss {tensors['loss'].item():.6f}, {len(tensors) - 3} gradients, "
          f"{size} bytes in {sorted(path.name for path in directory.iterdir())}")


def tensors_of(directory):
    """The tensors in the files, as they are stored."""
    tensors = {}
    for path in directory.glob("model*.safetensors"):
        tensors.update(load_file(path))
    return tensors


def same(ours, theirs):
    """Equality of names, types and bits."""
    return ours.keys() == theirs.keys() and all(
        tensor.dtype == theirs[name].dtype and torch.equal(tensor, theirs[name])
        for name, tensor in ours.items())


def load(directory):
    return transformers.AutoModelForCausalLM.from_pretrained(
        directory, attn_implementation="eager").float().eval()


def greedy_text(model, tokens):
    prompt = tokens[:, :PROMPT]
    return model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False,
                          max_new_tokens=GREEDY_TOKENS, eos_token_id=None, pad_token_id=0)


def check(family, original, export):
    """True when everything is the same; prints a line for each comparison."""
    tokens = load_file(original / EXPECTED)["input_ids"]
    with torch.no_grad():
        ours, theirs = load(export), load(original)
        results = {
            "tensors in the files": same(tensors_of(export), tensors_of(original)),
            "loaded weights": same(ours.state_dict(), theirs.state_dict()),
            "logits": torch.equal(ours(tokens).logits, theirs(tokens).logits),
            "greedy text": torch.equal(greedy_text(ours, tokens), greedy_text(theirs, tokens)),
        }
    for what, is_same in results.items():
        print(f"{'PASS' if is_same else 'FAIL'} {family}: {what}")
    return all(results.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", type=pathlib.Path, help="directory of the tiny models")
    parser.add_argument("--check", type=pathlib.Path, metavar="EXPORTS")
    options = parser.parse_args()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    if options.check:
        passed = [check(family, options.families / family, options.check / family)
                  for family in configs()]
        return 0 if all(passed) else 1
    for seed, (family, config) in enumerate(configs().items(), 1):
        write(family, config, options.families / family, seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
