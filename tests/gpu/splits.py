"""A batch gives the same losses however it is split over GPUs, in fp32.

Each rank is a process, as under a worker. The losses of a dense model differ by at most 1e-5 of
their value. With experts, a token can change its expert because of a rounding error, which changes
later losses by up to 1e-4. Therefore the first loss, before any change of weights, has a narrower
limit and the others a wider one.
"""
import dataclasses
import subprocess

from model_shapes import DEEPSEEK, MIXTRAL, ModelShape
from rows import ROWS
from trainer_run import RunError, RunPlan, last_step, metrics

STEPS = 20
BATCH = 16  # Samples of a step of a model with experts.


@dataclasses.dataclass(frozen=True)
class Limits:
    """The largest relative differences of losses."""

    first: float
    others: float


DENSE_LIMITS = Limits(1e-5, 1e-5)
EXPERT_LIMITS = Limits(1e-6, 1e-3)

ONE_GPU = dataclasses.replace(ROWS["tiny-cpu"].plan, name="split-1", device="gpu", micro_batch=4,
                              accumulation=2)
TWO_GPUS = dataclasses.replace(ONE_GPU, name="split-2", accumulation=1, ranks=2)
SHARDED = dataclasses.replace(TWO_GPUS, name="split-2-zero1", layout={"zero": 1})

SMALL = ModelShape(layers=4, heads=8, key_heads=4, hidden=512, ffn=768, vocabulary=2048,
                   sequence_length=512, rotary_base=1e4,
                   family={**MIXTRAL, "moe_router_load_balancing_type": "none"})
SMALL_DEEPSEEK = dataclasses.replace(
    SMALL, key_heads=8,
    family={**DEEPSEEK, "num_experts": 16, "moe_router_topk": 4, "moe_ffn_hidden_size": 256,
            "moe_shared_expert_intermediate_size": 512, "q_lora_rank": 192, "kv_lora_rank": 128})


def expert_plan(name, shape, ranks=1, **layout):
    return RunPlan(name, shape, micro_batch=2, accumulation=BATCH // 2 // ranks, ranks=ranks,
                   precision="fp32", layout=layout)


# Pairs of a plan for one GPU, and the plans that must give its losses.
EXPERTS = (
    (expert_plan("experts-1", SMALL), (
        expert_plan("ep2", SMALL, 2, ep=2, etp=1),
        expert_plan("ep2-all-gather", SMALL, 2, ep=2, etp=1, moe_token_dispatcher_type="allgather"),
        expert_plan("ep2-in-tp2", SMALL, 2, tp=2, ep=2, etp=1),
        expert_plan("etp2-in-tp2", SMALL, 2, tp=2, ep=1, etp=2),
        expert_plan("ep2-in-cp2", SMALL, 2, cp=2, ep=2, etp=1),
        expert_plan("ep2-zero1", SMALL, 2, ep=2, etp=1, zero=1),
        expert_plan("ep4", SMALL, 4, ep=4, etp=1),
        expert_plan("ep4-over-tp2", SMALL, 4, tp=2, ep=4, etp=1),
        expert_plan("ep2-zero1-dp4", SMALL, 4, ep=2, etp=1, zero=1),
        expert_plan("ep2-zero3-dp4", SMALL, 4, ep=2, etp=1, zero=3),
        expert_plan("ep2-etp2-over-tp2", SMALL, 4, tp=2, ep=2, etp=2),
        expert_plan("ep2-pp2", SMALL, 4, pp=2, ep=2, etp=1))),
    (expert_plan("deepseek-1", SMALL_DEEPSEEK), (
        expert_plan("deepseek-ep2", SMALL_DEEPSEEK, 2, ep=2, etp=1),
        expert_plan("deepseek-ep4-over-tp2", SMALL_DEEPSEEK, 4, tp=2, ep=4, etp=1),
        expert_plan("deepseek-ep4-zero2", SMALL_DEEPSEEK, 4, ep=4, etp=1, zero=2))),
)


def gpu_count():
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return listed.stdout.count("GPU ")


def losses(bench, plan):
    """Step -> loss of a run of STEPS steps."""
    folder = bench.new_folder(plan.name)
    with bench.start(plan, folder, bench.scratch / f"checkpoints-{plan.name}") as run:
        records = run.wait_until(lambda seen: last_step(seen) >= STEPS, bench.timeout)
    return {record["step"]: record["loss"] for record in metrics(records)}


def difference(one, other, step):
    return abs(other[step] - one[step]) / one[step]


def largest_difference(one, other):
    """Largest relative difference of the losses of steps 1 to STEPS."""
    return max(difference(one, other, step) for step in range(1, STEPS + 1))


def check(bench):
    """Checks a dense model. Prints a line for each split; true if all give the losses of one GPU,
    or there is only one."""
    if gpu_count() < 2:
        print("---- two GPUs against one: there is one GPU", flush=True)
        return True
    return check_splits(bench, ONE_GPU, (TWO_GPUS, SHARDED), DENSE_LIMITS)


def check_experts(bench):
    """Like check, for models with experts; without the splits that need more GPUs."""
    gpus = gpu_count()
    passed = [check_splits(bench, one, [plan for plan in plans if plan.ranks <= gpus],
                           EXPERT_LIMITS) for one, plans in EXPERTS]
    return all(passed)


def check_splits(bench, one, plans, limits):
    if not plans:
        print(f"---- {one.name}: no split fits on the GPUs of this machine", flush=True)
        return True
    try:
        whole = losses(bench, one)
        return all([check_split(bench, whole, plan, limits) for plan in plans])
    except RunError as error:
        print(f"FAIL splits of {one.name}: {error}", flush=True)
        return False


def check_split(bench, whole, plan, limits):
    """Prints a line; true if the plan's losses are near those of one GPU."""
    found = losses(bench, plan)
    first, largest = difference(whole, found, 1), largest_difference(whole, found)
    passed = first <= limits.first and largest <= limits.others
    print(f"{'PASS' if passed else 'FAIL'} {plan.name}: {plan.ranks} GPUs against one, fp32: "
          f"relative difference of the first loss {first:.1e} (<= {limits.first:.0e}), largest of "
          f"{STEPS} steps {largest:.1e} (<= {limits.others:.0e})", flush=True)
    return passed
