"""Layers with experts in PyTorch, as fast as PyTorch's own operations make them.

Rows are sorted by expert, and one torch._grouped_mm computes the products of all experts. The
permutation and its gradient are gathers, which the compiler joins with their neighbours: the
gradient of x[rows] by autograd would be a scatter with atomic sums instead.
"""
import torch
import torch.nn.functional as F
from torch import nn

import llama_peer
from llama_peer import Mlp

# Added to the sum of the chosen scores before the division, as in DeepSeek-V3.
SMALLEST_SUM = 1e-20


class Router(nn.Module):
    """Experts and weights of x [rows, hidden]: int64 and fp32 [rows, topk].

    `forced`: row t uses the experts (t + j) mod experts, with the weights of its scores.
    """

    def __init__(self, shape, forced):
        super().__init__()
        family = shape.family
        self.experts, self.topk = shape.experts, family["moe_router_topk"]
        self.is_sigmoid = family.get("moe_router_score_function") == "sigmoid"
        self.scaling = family.get("moe_router_topk_scaling_factor", 1.0)
        self.forced = forced
        self.gate = nn.Linear(shape.hidden, shape.experts, bias=False)
        self.has_bias = family.get("moe_router_enable_expert_bias", False) and not forced
        if self.has_bias:
            self.register_buffer("bias", torch.zeros(shape.experts))
            self.register_buffer("load", torch.zeros(shape.experts, dtype=torch.int64))

    def forward(self, x):
        scores = F.linear(x.float(), self.gate.weight.float())
        if self.is_sigmoid:
            scores = scores.sigmoid()
        experts = self.choose(scores.detach())
        chosen = scores.gather(1, experts)
        if not self.is_sigmoid:  # The normalised softmax of all is the softmax of the chosen.
            return experts, chosen.softmax(1)
        return experts, chosen / (chosen.sum(1, keepdim=True) + SMALLEST_SUM) * self.scaling

    def choose(self, scores):
        if self.forced:
            row = torch.arange(scores.shape[0], device=scores.device)[:, None]
            return (row + torch.arange(self.topk, device=scores.device)) % self.experts
        return (scores + self.bias if self.has_bias else scores).topk(self.topk, 1).indices


def move_biases(routers, rate):
    """Raises the bias of each expert that received fewer rows than the mean, after a step."""
    for router in routers:
        load = router.load.float()
        router.bias += rate * (load.mean() - load).sign()
        router.load.zero_()


class SortedRows:
    """The rows [rows * topk] of all experts, one expert behind the other."""

    def __init__(self, experts, count):
        flat = experts.flatten()
        self.topk = experts.shape[1]
        # A sort by one-byte keys takes fewer passes than a sort by int64 keys.
        self.order = torch.argsort(flat.to(torch.uint8), stable=True)
        places = torch.arange(flat.numel(), device=flat.device)
        self.inverse = torch.empty_like(self.order).scatter(0, self.order, places)
        numbers = torch.arange(count, device=flat.device)
        self.counts = (flat[:, None] == numbers).sum(0)
        self.ends = self.counts.cumsum(0).to(torch.int32)

    def gather(self, x):
        """x [rows, width] to [rows * topk, width]."""
        return GatherRows.apply(x, self.order // self.topk, self.inverse, self.topk)

    def combine(self, y):
        """The sum of the results y [rows * topk, width] of each row, [rows, width]."""
        return SumRows.apply(y, self.order // self.topk, self.inverse, self.topk)

    def weights(self, weights):
        """[rows, topk] to [rows * topk, 1]."""
        return Reorder.apply(weights.flatten(), self.order, self.inverse)[:, None]


def sum_of_slots(y, inverse, topk):
    return y[inverse].view(-1, topk, y.shape[1]).sum(1)


class GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(context, x, rows, inverse, topk):
        context.save_for_backward(inverse)
        context.topk = topk
        return x[rows]

    @staticmethod
    def backward(context, gradient):
        inverse, = context.saved_tensors
        return sum_of_slots(gradient, inverse, context.topk), None, None, None


class SumRows(torch.autograd.Function):
    @staticmethod
    def forward(context, y, rows, inverse, topk):
        context.save_for_backward(rows)
        return sum_of_slots(y, inverse, topk)

    @staticmethod
    def backward(context, gradient):
        rows, = context.saved_tensors
        return gradient[rows], None, None, None


class Reorder(torch.autograd.Function):
    @staticmethod
    def forward(context, x, order, inverse):
        context.save_for_backward(inverse)
        return x[order]

    @staticmethod
    def backward(context, gradient):
        inverse, = context.saved_tensors
        return gradient[inverse], None, None


class Experts(nn.Module):
    """Routed experts, and shared ones, of x [batch, length, hidden].

    `columns`: the weight of an expert is stored as [out, in], so that the products read it
    transposed. Otherwise [in, out].
    """

    def __init__(self, shape, forced, columns):
        super().__init__()
        width = shape.family.get("moe_ffn_hidden_size", shape.ffn)
        shared = shape.family.get("moe_shared_expert_intermediate_size", 0)
        self.columns = columns
        self.router = Router(shape, forced)
        self.gate_up = self.stacked(shape.experts, shape.hidden, 2 * width)
        self.down = self.stacked(shape.experts, width, shape.hidden)
        self.shared = Mlp(shape.hidden, shared) if shared else None

    def stacked(self, experts, inner, outer):
        sizes = (outer, inner) if self.columns else (inner, outer)
        return nn.Parameter(torch.empty(experts, *sizes))

    def product(self, rows, weight, ends):
        weight = weight.to(llama_peer.COMPUTE)
        return torch._grouped_mm(rows, weight.transpose(1, 2) if self.columns else weight,
                                 offs=ends)

    def forward(self, x):
        y = self.routed(x.flatten(0, 1)).view_as(x)
        return y if self.shared is None else y + self.shared(x)

    def routed(self, x):
        """The sum of the chosen experts of x [rows, hidden]."""
        experts, weights = self.router(x)
        rows = SortedRows(experts, self.router.experts)
        if self.router.has_bias and self.training:
            self.router.load.add_(rows.counts)
        gate, up = self.product(rows.gather(x), self.gate_up, rows.ends).chunk(2, -1)
        active = F.silu(gate) * up * rows.weights(weights.to(llama_peer.COMPUTE))
        return rows.combine(self.product(active, self.down, rows.ends))
