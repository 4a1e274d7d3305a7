"""A row of tests/gpu/bench.py: its run, its targets, its result."""
import dataclasses

from model_shapes import MODELS
from trainer_run import RunPlan


@dataclasses.dataclass(frozen=True)
class Target:
    """Bounds of a row, which must reach one and aims at the other, in `unit`."""

    unit: str
    must: float | None
    aim: float | None = None
    lower_is_better: bool = False

    def reached(self, value, bound):
        return value <= bound if self.lower_is_better else value >= bound

    def verdict(self, value):
        if value is None:
            return "not measured"
        if self.must is not None and not self.reached(value, self.must):
            return "MISSED"
        if self.aim is not None and self.reached(value, self.aim):
            return "aim"
        return "below aim" if self.must is None else "must"


@dataclasses.dataclass(frozen=True)
class BenchRow:
    """One row: our run, how its value comes about, and the variants of its peer program.

    `value` is `ratio` (ours to the fastest peer, in tokens/s), `tokens` (tokens/s), `scaling`
    (tokens/s a GPU to those of one GPU alone), `forced` (tokens/s to those of the same model with
    forced balance of its experts), `bf16` (tokens/s to those of the same run in bf16), `stall` (%
    of a step that a save makes a run longer), `start` (s to the first step from a checkpoint) or
    `reshard` (bytes that another layout's ranks read of a
    checkpoint, to those that it has). `twin`: a row of two GPUs,
    shown beside a row whose GPUs the machine does not have.
    """

    plan: RunPlan
    value: str
    target: Target | None
    model: str
    peers: tuple = ()
    peer_program: str = "llama_peer.py"
    twin: str = ""


def fastest(peers):
    """The peer with the most tokens/s; None if none was measured."""
    measured = [peer for peer in peers if "tokens_per_second" in peer]
    return max(measured, key=lambda peer: peer["tokens_per_second"], default=None)


@dataclasses.dataclass
class Result:
    """A measured row. `ours` and `peers` are JSON objects; `note` has what figures do not tell.

    `compared`: the variants of the peer that were requested, `all`, `first` or `none`.
    """

    row: BenchRow
    ours: dict | None = None
    peers: list = dataclasses.field(default_factory=list)
    value: float | None = None
    note: str = ""
    predicted: dict | None = None  # The planner's figures.
    lacks_gpus: bool = False
    compared: str = "all"

    @property
    def best_peer(self):
        return fastest(self.peers)

    @property
    def verdict(self):
        return self.row.target.verdict(self.value) if self.row.target else "no target"


def make_row(name, model, value, target, peers=(), peer_program="llama_peer.py", length=None,
             family=None, **plan):
    """`length`: positions of a sample, where they are not the model's own. `family`: settings of
    the model beside its own."""
    shape = MODELS[model]
    if length is not None:
        shape = dataclasses.replace(shape, sequence_length=length)
    if family:
        shape = dataclasses.replace(shape, family={**shape.family, **family})
    return BenchRow(RunPlan(name, shape, **plan), value, target, model, peers, peer_program)
