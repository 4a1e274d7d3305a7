"""Compares the mixtures of moe_peer.py with plain ones, on small models with other sizes.

  python3 tests/gpu/peers/moe_peer_check.py [--device cpu]

The plain model runs every expert by itself on the rows that chose it, computes attention from its
formula, and has autograd's gradients. The fast model runs without compilation and compiled, in
bf16 on a GPU and in fp32 on a CPU. The command also compares fused with separate clipping, and the
changes of the experts' biases with their definition. Prints a line for each case. Ends with 1 if
a figure differs by more than bf16 (fp32) explains.
"""
import argparse
import dataclasses
import sys

import torch
import torch.nn.functional as F

import expert_layers
import llama_peer
import moe_peer
from llama_peer import MODELS
from moe_peer import MoeDecoder, MoeVariant

SMALL = {"m8": dict(layers=2, heads=4, key_heads=2, hidden=256, ffn=320, vocabulary=512,
                    sequence_length=64),
         "d64": dict(layers=3, heads=4, key_heads=4, hidden=256, ffn=512, vocabulary=512,
                     sequence_length=64)}
NARROW = {"moe_ffn_hidden_size": 96, "moe_shared_expert_intermediate_size": 192,
          "q_lora_rank": 64, "kv_lora_rank": 64}
SAMPLES = 3
# Maximum relative differences of the loss and of a gradient's norm.
LIMITS = {"cpu": (1e-5, 1e-4), "cuda": (3e-3, 4e-2)}
# Small enough that a chunked head has several chunks. The last chunk is smaller than the others.
HEAD_ROWS = 50
# Far below the norm of any gradient here, so that every gradient is clipped.
MAX_NORM = 1e-3


def small_shape(model):
    shape = dataclasses.replace(MODELS[model], **SMALL[model])
    narrow = {key: value for key, value in NARROW.items() if key in shape.family}
    return dataclasses.replace(shape, family={**shape.family, **narrow})


def plain_product(rows, weights, offs):
    """torch._grouped_mm in a loop, for CPUs."""
    starts = [0, *offs.tolist()[:-1]]
    return torch.cat([rows[start:end] @ weight
                      for start, end, weight in zip(starts, offs.tolist(), weights)])


def rms_norm(x, norm):
    return x * (x.square().mean(-1, keepdim=True) + norm.epsilon).rsqrt() * norm.weight


def turned(x, cos, sin):
    """x [..., length, size]."""
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


def plain_attend(query, key, value):
    """[batch, heads, length, size] to [batch, length, all heads]."""
    key = key.repeat_interleave(query.shape[1] // key.shape[1], 1)
    value = value.repeat_interleave(query.shape[1] // value.shape[1], 1)
    scores = query @ key.transpose(2, 3) / query.shape[-1] ** 0.5
    length = scores.shape[-1]
    hidden = torch.ones(length, length, dtype=torch.bool, device=scores.device).triu(1)
    heads = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ value
    return heads.transpose(1, 2).flatten(2)


def plain_attention(module, x, cos, sin):
    batch, length, _ = x.shape
    if isinstance(module, llama_peer.Attention):
        parts = (x @ module.query_key_value.weight.t()).view(batch, length, -1, module.head_size)
        query, key, value = parts.transpose(1, 2).split(
            [module.heads, module.key_heads, module.key_heads], 1)
        heads = plain_attend(turned(query, cos, sin), turned(key, cos, sin), value)
        return heads @ module.output.weight.t()
    query, latent, key_rotary = (x @ module.latents.weight.t()).split(module.parts, -1)
    query = rms_norm(query, module.query_norm) @ module.query.weight.t()
    latent = rms_norm(latent, module.key_value_norm) @ module.key_value.weight.t()
    out = []
    for head in range(module.heads):
        own = query.view(batch, length, module.heads, -1)[:, :, head]
        pair = latent.view(batch, length, module.heads, -1)[:, :, head]
        split = module.plain
        own = torch.cat((own[..., :split], turned(own[..., split:], cos, sin)), -1)
        key = torch.cat((pair[..., :split], turned(key_rotary, cos, sin)), -1)
        out.append(plain_attend(own[:, None], key[:, None], pair[:, None, :, split:]))
    return torch.cat(out, -1) @ module.output.weight.t()


def plain_mlp(x, gate_up, down):
    """gate_up [2 * width, hidden], down [hidden, width]."""
    gate, up = (x @ gate_up.t()).chunk(2, -1)
    return (F.silu(gate) * up) @ down.t()


def plain_experts(module, x, experts):
    """`experts`, the choice of the fast model: rounding would move some choices."""
    scores = x @ module.router.gate.weight.t()
    if module.router.is_sigmoid:
        chosen = scores.sigmoid().gather(1, experts)
        weights = chosen / chosen.sum(1, keepdim=True) * module.router.scaling
    else:
        weights = scores.gather(1, experts).softmax(1)
    y = torch.zeros_like(x)
    for number in range(module.router.experts):
        rows, slots = (experts == number).nonzero(as_tuple=True)
        gate_up, down = module.gate_up[number], module.down[number]
        if not module.columns:
            gate_up, down = gate_up.t(), down.t()
        part = plain_mlp(x[rows], gate_up, down) * weights[rows, slots][:, None]
        y = y.index_add(0, rows, part)
    if module.shared is None:
        return y
    return y + plain_mlp(x, module.shared.gate_up.weight, module.shared.down.weight)


def plain_loss(model, tokens, targets, choices):
    """`choices`: the experts of each layer that has some, in order."""
    x = model.embedding.weight[tokens]
    for block in model.blocks:
        x = x + plain_attention(block.attention, rms_norm(x, block.attention_norm), model.cos,
                                model.sin)
        rows = rms_norm(x, block.ffn_norm).flatten(0, 1)
        y = (plain_mlp(rows, block.ffn.gate_up.weight, block.ffn.down.weight)
             if isinstance(block.ffn, llama_peer.Mlp)
             else plain_experts(block.ffn, rows, choices.pop(0)))
        x = x + y.view_as(x)
    logits = rms_norm(x, model.head.norm) @ model.head.product.weight.t()
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def gradients_of(model, loss):
    model.zero_grad(set_to_none=True)
    loss.backward()
    return {name: weight.grad.clone() for name, weight in model.named_parameters()}


def fast_run(model, tokens, targets):
    """Loss, gradients, and the choice of each layer with experts."""
    choices = []
    hooks = [module.register_forward_hook(lambda *call: choices.append(call[2][0]))
             for module in model.modules() if isinstance(module, expert_layers.Router)]
    loss = model(tokens, targets)
    for hook in hooks:
        hook.remove()
    return loss, gradients_of(model, loss), choices


def largest_distance(found, expected):
    """(relative distance, name) of the gradient that differs most."""
    apart = [(((found[name] - right).norm() / right.norm()).item(), name)
             for name, right in expected.items()]
    return max(apart)


def report(case, passed, detail=""):
    print(f"{'PASS' if passed else 'FAIL'} {case}{detail}", flush=True)
    return passed


def compare(case, found, expected, limits):
    """Prints a line; true if the loss and all gradients agree."""
    loss = abs(found[0].item() / expected[0].item() - 1)
    gradient, name = largest_distance(found[1], expected[1])
    passed = loss <= limits[0] and gradient <= limits[1]
    return report(case, passed, f": loss {loss:.1e}, gradient {gradient:.1e} of {name}")


def loads_agree(case, model, choices):
    """True if the routers with a bias have counted the rows that chose each expert."""
    pairs = [(router.load, torch.bincount(experts.flatten(), minlength=router.experts))
             for router, experts in zip(model.routers(), choices)]
    return not pairs or report(f"{case}, loads", all(torch.equal(*pair) for pair in pairs))


def biases_move(case, routers, rate=0.5):
    """True if the biases move by the rate towards an even load, and the counts begin again."""
    expected = []
    for router in routers:
        counts = router.load.tolist()
        mean = sum(counts) / len(counts)
        expected.append([bias + rate * ((count < mean) - (count > mean))
                         for bias, count in zip(router.bias.tolist(), counts)])
    expert_layers.move_biases(routers, rate)
    moved = all(torch.allclose(router.bias.cpu(), torch.tensor(right))
                for router, right in zip(routers, expected))
    return not routers or report(f"{case}, biases",
                                 moved and not any(router.load.any() for router in routers))


def first_moments(shape, variant, device):
    """AdamW's first moments after one step, which have the size of the clipped gradients."""
    training = moe_peer.MoeTraining(shape, variant, device)
    training.loss_of = training.model  # Both kinds of clipping get the same gradients.
    training.step()
    return {name: training.optimizer.state[weight]["exp_avg"]
            for name, weight in training.model.named_parameters()}


def check_clipping(model_name, variant, device):
    """True if fused clipping has the effect of a pass over the gradients."""
    shape = small_shape(model_name)
    llama_peer.MAX_NORM = moe_peer.MAX_NORM = MAX_NORM
    separate, fused = (first_moments(shape, dataclasses.replace(variant, clipping=kind), device)
                       for kind in ("separate", "fused"))
    # The moments are a tenth (1 - BETAS[0]) of the gradients, whose norm is MAX_NORM.
    size = torch.stack([moment.norm() for moment in separate.values()]).norm().item()
    is_clipped = abs(size / (MAX_NORM * (1 - llama_peer.BETAS[0])) - 1) < 1e-2
    apart, name = largest_distance(fused, separate)
    return report(f"{model_name} fused clipping", is_clipped and apart <= LIMITS[device][1],
                  f": moment {apart:.1e} of {name}")


def check(model_name, variant, device):
    moe_peer.allow_attention(variant.attention)
    torch.manual_seed(1)
    shape = small_shape(model_name)
    with torch.device(device):
        model = MoeDecoder(shape, variant)
        rows = torch.randint(0, shape.vocabulary, (SAMPLES, shape.sequence_length + 1))
    for router in model.routers():
        router.bias.uniform_(-0.2, 0.2)
        router.bias[0] = -9  # An expert without rows.
    tokens, targets = rows[:, :-1], rows[:, 1:]
    loss, gradients, choices = fast_run(model, tokens, targets)
    case = f"{model_name} {variant.name}"
    passed = loads_agree(case, model, choices)
    right = plain_loss(model, tokens, targets, choices)
    expected = (right, gradients_of(model, right))
    passed = compare(case, (loss, gradients), expected, LIMITS[device]) and passed
    if device == "cuda":
        fast = torch.compile(model, fullgraph=True)(tokens, targets)
        passed = compare(case + ", compiled", (fast, gradients_of(model, fast)), expected,
                         LIMITS[device]) and passed
    return biases_move(case, model.routers()) and passed


def use_cpu():
    expert_layers.torch._grouped_mm = plain_product
    llama_peer.COMPUTE = torch.float32


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=LIMITS, default="cuda")
    device = parser.parse_args().device
    if device == "cpu":
        use_cpu()
    attention = {"m8": ["any"], "d64": ["any", "flash"] if device == "cpu" else ["cudnn", "flash"]}
    cases = [(model, MoeVariant(SAMPLES, routing=routing, attention=kind, storage=storage,
                                head=head))
             for model in SMALL for kind in attention[model]
             for routing, storage, head in (("forced", "rows", "full"), ("real", "columns", "full"),
                                            ("forced", "rows", "chunked"))]
    llama_peer.HEAD_ROWS = HEAD_ROWS
    results = [check(model, variant, device) for model, variant in cases]
    results += [check_clipping(model, MoeVariant(SAMPLES, attention=attention[model][0]), device)
                for model in SMALL]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
