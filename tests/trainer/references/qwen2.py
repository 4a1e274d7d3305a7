"""The tiny Qwen2.5 model of families/qwen2, with logits and gradients of a plain model in float64.

  python3 tests/trainer/references/qwen2.py tests/trainer/references/families/qwen2

Writes the same files as families.py, from the definition of the model: arXiv 2407.10671 (section
2.2), and config.json of the published models. Needs only PyTorch, of any version.
"""
import json
import math
import pathlib
import struct
import sys

import torch
from torch.nn import functional

LAYERS, HIDDEN, WIDTH, HEADS, KEY_HEADS, VOCABULARY = 2, 32, 24, 4, 2, 61
SIZE = HIDDEN // HEADS
BASE, EPSILON = 10000.0, 1e-6
SAMPLES, LENGTH, SPREAD, SEED = 2, 16, 0.2, 13
CONFIG = {
    "architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": None,
    "eos_token_id": None, "hidden_act": "silu", "hidden_size": HIDDEN, "initializer_range": 0.02,
    "intermediate_size": WIDTH, "max_position_embeddings": 128, "max_window_layers": LAYERS,
    "model_type": "qwen2", "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
    "num_key_value_heads": KEY_HEADS, "rms_norm_eps": EPSILON, "rope_theta": BASE,
    "sliding_window": 4096, "tie_word_embeddings": True, "torch_dtype": "float32",
    "use_cache": True, "use_mrope": False, "use_sliding_window": False, "vocab_size": VOCABULARY}


def shapes():
    """Names and shapes of the weights. The head is tied to the embedding."""
    yield "model.embed_tokens.weight", (VOCABULARY, HIDDEN)
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        yield prefix + "input_layernorm.weight", (HIDDEN,)
        for name, heads in (("q", HEADS), ("k", KEY_HEADS), ("v", KEY_HEADS)):
            yield f"{prefix}self_attn.{name}_proj.weight", (heads * SIZE, HIDDEN)
            yield f"{prefix}self_attn.{name}_proj.bias", (heads * SIZE,)
        yield prefix + "self_attn.o_proj.weight", (HIDDEN, HIDDEN)
        yield prefix + "post_attention_layernorm.weight", (HIDDEN,)
        for name in ("gate", "up"):
            yield f"{prefix}mlp.{name}_proj.weight", (WIDTH, HIDDEN)
        yield prefix + "mlp.down_proj.weight", (HIDDEN, WIDTH)
    yield "model.norm.weight", (HIDDEN,)


def random_weights():
    """Random values in float32, none of which is the 0 or 1 that a new model has."""
    generator = torch.Generator().manual_seed(SEED)
    weights = {}
    for name, shape in sorted(shapes()):
        values = SPREAD * torch.randn(shape, generator=generator)
        weights[name] = values + 1 if name.endswith("norm.weight") else values
    return weights


def norm(x, weight):
    return weight * x / torch.sqrt((x * x).mean(-1, keepdim=True) + EPSILON)


def rotate(heads):
    """Turns elements i and i + SIZE / 2 of each head. heads: [samples, head, length, SIZE]"""
    frequencies = BASE ** (-torch.arange(0, SIZE, 2, dtype=heads.dtype) / SIZE)
    angles = torch.arange(heads.shape[2], dtype=heads.dtype)[:, None] * frequencies
    first, second = heads.chunk(2, dim=-1)
    return torch.cat((first * angles.cos() - second * angles.sin(),
                      second * angles.cos() + first * angles.sin()), dim=-1)


def attention(x, weights, prefix):
    def heads(name, count):
        rows = functional.linear(x, weights[f"{prefix}{name}_proj.weight"],
                                 weights[f"{prefix}{name}_proj.bias"])
        return rows.view(*x.shape[:2], count, SIZE).transpose(1, 2)

    queries, keys = rotate(heads("q", HEADS)), rotate(heads("k", KEY_HEADS))
    values = heads("v", KEY_HEADS)
    keys, values = (heads.repeat_interleave(HEADS // KEY_HEADS, 1) for heads in (keys, values))
    scores = queries @ keys.transpose(2, 3) / math.sqrt(SIZE)
    later = torch.ones(scores.shape[2:]).triu(1) > 0
    mixed = scores.masked_fill(later, -math.inf).softmax(-1) @ values
    return functional.linear(mixed.transpose(1, 2).flatten(2), weights[prefix + "o_proj.weight"])


def feed_forward(x, weights, prefix):
    gate = functional.silu(functional.linear(x, weights[prefix + "gate_proj.weight"]))
    up = functional.linear(x, weights[prefix + "up_proj.weight"])
    return functional.linear(gate * up, weights[prefix + "down_proj.weight"])


def logits_of(tokens, weights):
    embedding = weights["model.embed_tokens.weight"]
    x = embedding[tokens]
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        y = norm(x, weights[prefix + "input_layernorm.weight"])
        x = x + attention(y, weights, prefix + "self_attn.")
        y = norm(x, weights[prefix + "post_attention_layernorm.weight"])
        x = x + feed_forward(y, weights, prefix + "mlp.")
    return functional.linear(norm(x, weights["model.norm.weight"]), embedding)


def expected(weights):
    """Logits, loss and gradients for random tokens, rounded to float32."""
    generator = torch.Generator().manual_seed(SEED + 1000)
    tokens = torch.randint(0, VOCABULARY, (SAMPLES, LENGTH), generator=generator)
    exact = {name: tensor.double().requires_grad_() for name, tensor in weights.items()}
    logits = logits_of(tokens, exact)
    loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    tensors = {"input_ids": tokens, "logits": logits.detach().float(),
               "loss": loss.detach().float().reshape(1)}
    for name, tensor in exact.items():
        tensors["gradient." + name] = tensor.grad.float()
    return tensors


def save(tensors, path):
    """Writes the safetensors format: the length of a JSON header, the header, and the elements."""
    header, parts, at = {}, [], 0
    for name, tensor in sorted(tensors.items()):
        letter, kind = ("q", "I64") if tensor.dtype == torch.int64 else ("f", "F32")
        part = struct.pack(f"<{tensor.numel()}{letter}", *tensor.flatten().tolist())
        header[name] = {"dtype": kind, "shape": list(tensor.shape),
                        "data_offsets": [at, at + len(part)]}
        parts.append(part)
        at += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    weights = random_weights()
    tensors = expected(weights)
    (directory / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    save(weights, directory / "model.safetensors")
    save(tensors, directory / "expected.safetensors")
    print(f"loss {tensors['loss'].item():.6f}, {len(tensors) - 3} gradients")


if __name__ == "__main__":
    main()
