"""GPT-2 and LLaMA in plain PyTorch, with the shapes of model_shapes.py.

Weights are fp32; the caller's autocast makes products bf16. q, k and v are one product, and so are
gate and up. Attention is scaled_dot_product_attention.
"""
import torch
import torch.nn.functional as F
from torch import nn

from llama_peer import angles_of, rotate

STD = 0.02


def is_gpt2(shape):
    """True for learned positions, LayerNorm, biases and GELU; False for LLaMA's parts."""
    return shape.family.get("position_embedding_type") == "learned_absolute"


class RmsNorm(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.epsilon)


def norm_of(shape):
    if is_gpt2(shape):
        return nn.LayerNorm(shape.hidden, eps=shape.norm_epsilon)
    return RmsNorm(shape.hidden, shape.norm_epsilon)


class Block(nn.Module):
    """x [batch, length, hidden] plus attention, then plus the feed-forward layer."""

    def __init__(self, shape):
        super().__init__()
        self.heads, self.key_heads, self.head_size = shape.heads, shape.key_heads, shape.head_size
        self.has_gate = not is_gpt2(shape)
        bias = is_gpt2(shape)
        packed = (shape.heads + 2 * shape.key_heads) * shape.head_size
        self.attention_norm = norm_of(shape)
        self.query_key_value = nn.Linear(shape.hidden, packed, bias=bias)
        self.output = nn.Linear(shape.hidden, shape.hidden, bias=bias)
        self.ffn_norm = norm_of(shape)
        self.up = nn.Linear(shape.hidden, (1 + self.has_gate) * shape.ffn, bias=bias)
        self.down = nn.Linear(shape.ffn, shape.hidden, bias=bias)

    def forward(self, x, angles):
        x = x + self.attend(self.attention_norm(x), angles)
        up = self.up(self.ffn_norm(x))
        if not self.has_gate:
            return x + self.down(F.gelu(up, approximate="tanh"))
        gate, up = up.chunk(2, -1)
        return x + self.down(F.silu(gate) * up)

    def attend(self, x, angles):
        batch, length, hidden = x.shape
        packed = self.query_key_value(x).view(batch, length, -1, self.head_size).transpose(1, 2)
        query, key, value = packed.split([self.heads, self.key_heads, self.key_heads], 1)
        if angles is not None:
            query, key = rotate(query, *angles), rotate(key, *angles)
        heads = F.scaled_dot_product_attention(query, key, value, is_causal=True,
                                               enable_gqa=self.key_heads != self.heads)
        return self.output(heads.transpose(1, 2).reshape(batch, length, hidden))


class PlainDecoder(nn.Module):
    """Returns the mean cross-entropy of `targets` [batch, length] after `tokens`."""

    def __init__(self, shape):
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, shape.hidden)
        self.positions = None
        self.angles = None
        if is_gpt2(shape):
            self.positions = nn.Embedding(shape.family["max_position_embeddings"], shape.hidden)
        else:
            self.angles = angles_of(shape)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = norm_of(shape)
        self.head = None if shape.tied else nn.Linear(shape.hidden, shape.vocabulary, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=STD)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens, targets):
        x = self.tokens(tokens)
        if self.positions is not None:
            x = x + self.positions.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x, self.angles)
        weight = self.tokens.weight if self.head is None else self.head.weight
        logits = F.linear(self.norm(x), weight)
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def sources_of(model):
    """(parameter, the logical tensors of trainer/model that lie in it one below the other)."""
    yield model.tokens.weight, ["model.embed_tokens.weight"]
    if model.positions is not None:
        yield model.positions.weight, ["model.embed_positions.weight"]
    for index, block in enumerate(model.blocks):
        prefix = f"model.layers.{index}."
        ups = ["mlp.gate_proj", "mlp.up_proj"] if block.has_gate else ["mlp.up_proj"]
        for module, names in (
                (block.attention_norm, ["input_layernorm"]),
                (block.query_key_value, [f"self_attn.{x}_proj" for x in "qkv"]),
                (block.output, ["self_attn.o_proj"]),
                (block.ffn_norm, ["post_attention_layernorm"]),
                (block.up, ups), (block.down, ["mlp.down_proj"])):
            for kind, parameter in module.named_parameters():
                yield parameter, [f"{prefix}{name}.{kind}" for name in names]
    for kind, parameter in model.norm.named_parameters():
        yield parameter, [f"model.norm.{kind}"]
    if model.head is not None:
        yield model.head.weight, ["lm_head.weight"]


@torch.no_grad()
def load_weights(model, weights):
    """Copies `weights`, tensors by logical name; SystemExit when the names are not the model's."""
    used = set()
    for parameter, names in sources_of(model):
        missing = [name for name in names if name not in weights]
        if missing:
            raise SystemExit(f"the checkpoint has no {missing[0]}")
        parameter.copy_(torch.cat([weights[name] for name in names]))
        used.update(names)
    unknown = sorted(set(weights) - used)
    if unknown:
        raise SystemExit(f"the plain model has no {unknown[0]}")


def make_adamw(model, rate, betas, epsilon, decay):
    """Fused AdamW that lets matrices and tables decay, and vectors not."""
    matrices = [weight for weight in model.parameters() if weight.dim() == 2]
    vectors = [weight for weight in model.parameters() if weight.dim() == 1]
    groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=betas, eps=epsilon, fused=True)
