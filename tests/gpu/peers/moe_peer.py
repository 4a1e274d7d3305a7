"""The strongest PyTorch for the mixtures of experts that tests/gpu/bench.py measures.

The model is compiled as one graph. Experts are torch._grouped_mm over sorted rows
(expert_layers.py), attention is scaled_dot_product_attention, AdamW is fused. Latent attention has
query and key heads of 192 and value heads of 128: cuDNN takes them as they are, flash attention
with values that are padded to 192.

  python3 tests/gpu/peers/moe_peer.py --model m8 --micro-batch 8 --weights fp32,bf16
  python3 tests/gpu/peers/moe_peer.py --model d64 --micro-batch 8 --routing forced,real \\
      --attention cudnn,flash

Prints a JSON line for each variant, with the keys of llama_peer.py. moe_peer_check.py compares the
model with a plain one.
"""
import dataclasses

import torch
import torch.nn.functional as F
from torch import nn

import llama_peer
from expert_layers import Experts, move_biases
from llama_peer import (MAX_NORM, Attention, Block, ComputeLinear, Head, Mlp, RmsNorm, angles_of,
                        attend, rotate)

BIAS_RATE = 1e-3


@dataclasses.dataclass(frozen=True)
class MoeVariant(llama_peer.Variant):
    """One way to train a mixture of experts."""

    routing: str = "forced"  # forced: balanced by row number; real: by score
    attention: str = "any"  # any: PyTorch's choice; cudnn and flash: only this one
    storage: str = "rows"  # of an expert's weights; rows: [in, out]; columns: [out, in]
    clipping: str = "separate"  # separate: a pass over the gradients; fused: AdamW scales them

    CHOICES = {**llama_peer.Variant.CHOICES, "routing": ("forced", "real"),
               "attention": ("any", "cudnn", "flash"), "storage": ("rows", "columns"),
               "clipping": ("separate", "fused")}

    @property
    def name(self):
        parts = [super().name, f"{self.routing} routing"]
        if self.attention != "any":
            parts.append(self.attention)
        if self.storage != "rows":
            parts.append(f"weights in {self.storage}")
        if self.clipping != "separate":
            parts.append(f"{self.clipping} clipping")
        return ", ".join(parts)


class LatentAttention(nn.Module):
    """Attention of DeepSeek-V3: queries, keys and values of all heads from two latent vectors.

    One product computes both latents and the rotary part of the keys, which all heads share.
    """

    def __init__(self, shape, pads_values):
        super().__init__()
        family = shape.family
        self.heads = shape.heads
        self.plain, self.rotary = family["qk_head_dim"], family["qk_pos_emb_head_dim"]
        self.value, self.pads_values = family["v_head_dim"], pads_values
        ranks = [family["q_lora_rank"], family["kv_lora_rank"]]
        self.parts = [*ranks, self.rotary]
        self.latents = ComputeLinear(shape.hidden, sum(self.parts), bias=False)
        self.query_norm = RmsNorm(ranks[0], shape.norm_epsilon)
        self.key_value_norm = RmsNorm(ranks[1], shape.norm_epsilon)
        self.query = ComputeLinear(ranks[0], self.heads * (self.plain + self.rotary), bias=False)
        self.key_value = ComputeLinear(ranks[1], self.heads * (self.plain + self.value),
                                       bias=False)
        self.output = ComputeLinear(self.heads * self.value, shape.hidden, bias=False)

    def heads_of(self, packed):
        """[batch, length, heads * size] to [batch, heads, length, size]."""
        return packed.view(*packed.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x, cos, sin):
        query_latent, key_value_latent, key_rotary = self.latents(x).split(self.parts, -1)
        query = self.heads_of(self.query(self.query_norm(query_latent)))
        plain, turned = query.split([self.plain, self.rotary], -1)
        query = torch.cat((plain, rotate(turned, cos, sin)), -1)
        key_value = self.heads_of(self.key_value(self.key_value_norm(key_value_latent)))
        plain, value = key_value.split([self.plain, self.value], -1)
        shared = rotate(key_rotary[:, None], cos, sin).expand(-1, self.heads, -1, -1)
        key = torch.cat((plain, shared), -1)
        if not self.pads_values:
            return self.output(attend(query, key, value))
        padded = F.pad(value, (0, query.shape[-1] - self.value))
        heads = attend(query, key, padded).view(*x.shape[:2], self.heads, -1)
        return self.output(heads[..., :self.value].flatten(2))


def block_of(shape, layer, variant):
    """Block number `layer` of the model."""
    attention = (LatentAttention(shape, pads_values=variant.attention == "flash")
                 if shape.has_latent_attention else Attention(shape))
    is_dense = layer < shape.family.get("moe_dense_layers", 0)
    ffn = (Mlp(shape.hidden, shape.ffn) if is_dense else
           Experts(shape, variant.routing == "forced", variant.storage == "columns"))
    return Block(shape, attention, ffn)


def rotary_angles(shape):
    if not shape.has_latent_attention:
        return angles_of(shape)
    rotary = {"kv_channels": shape.family["qk_pos_emb_head_dim"]}
    return angles_of(dataclasses.replace(shape, family=rotary))


class MoeDecoder(nn.Module):
    """Returns the loss divided by the number of micro-batches."""

    def __init__(self, shape, variant):
        super().__init__()
        self.embedding = nn.Embedding(shape.vocabulary, shape.hidden)
        self.blocks = nn.ModuleList(block_of(shape, layer, variant)
                                    for layer in range(shape.layers))
        self.head = Head(shape, variant.head == "chunked")
        self.scale = 1.0 / variant.accumulation
        self.cos, self.sin = rotary_angles(shape)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def routers(self):
        """Routers with a bias."""
        return [module for module in self.modules() if getattr(module, "has_bias", False)]

    def forward(self, tokens, targets):
        x = self.embedding(tokens).to(llama_peer.COMPUTE)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return self.head(x, targets) * self.scale


def allow_attention(kind):
    """Leaves scaled_dot_product_attention only this implementation."""
    torch.backends.cuda.enable_cudnn_sdp(kind != "flash")
    torch.backends.cuda.enable_flash_sdp(kind != "cudnn")
    torch.backends.cuda.enable_mem_efficient_sdp(kind == "any")
    torch.backends.cuda.enable_math_sdp(kind == "any")


class MoeTraining(llama_peer.Training):
    """The mixture, its optimizer and data of noise on one GPU, ready to step."""

    def __init__(self, shape, variant, device="cuda"):
        allow_attention(variant.attention)
        super().__init__(shape, variant, device)
        self.routers = self.model.routers()
        self.fuses_clipping = variant.clipping == "fused"

    @staticmethod
    def build(shape, variant):
        return MoeDecoder(shape, variant)

    def update(self):
        if self.fuses_clipping:
            gradients = [parameter.grad for parameter in self.parameters]
            norm = nn.utils.get_total_norm(gradients)
            # Fused AdamW divides the gradients by grad_scale, without a separate pass.
            self.optimizer.grad_scale = (norm / MAX_NORM).float().clamp(min=1.0)
            self.optimizer.step()
        else:
            super().update()
        with torch.no_grad():
            move_biases(self.routers, BIAS_RATE)


if __name__ == "__main__":
    llama_peer.main(MoeVariant, MoeTraining, __doc__)
