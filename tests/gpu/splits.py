"""A batch gives the same losses however it is split over GPUs: fp32, relative 1e-5."""
import dataclasses
import subprocess

from rows import ROWS
from trainer_run import RunError, last_step, metrics

STEPS = 20
TOLERANCE = 1e-5

ONE_GPU = dataclasses.replace(ROWS["tiny-cpu"].plan, name="split-1", device="gpu", micro_batch=4,
                              accumulation=2)
TWO_GPUS = dataclasses.replace(ONE_GPU, name="split-2", accumulation=1, ranks=2)
SHARDED = dataclasses.replace(TWO_GPUS, name="split-2-zero1", layout={"zero": 1})


def gpu_count():
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return listed.stdout.count("GPU ")


def losses(bench, plan):
    """Step -> loss of a run of STEPS steps."""
    folder = bench.new_folder(plan.name)
    with bench.start(plan, folder, bench.scratch / f"checkpoints-{plan.name}") as run:
        records = run.wait_until(lambda seen: last_step(seen) >= STEPS, bench.timeout)
    return {record["step"]: record["loss"] for record in metrics(records)}


def largest_difference(one, other):
    """Largest relative distance of the losses of steps 1 to STEPS."""
    return max(abs(other[step] - one[step]) / one[step] for step in range(1, STEPS + 1))


def check(bench):
    """Prints a line for each split; true when all give the losses of one GPU, or there is only one."""
    if gpu_count() < 2:
        print("---- two GPUs against one: there is one GPU", flush=True)
        return True
    try:
        whole = losses(bench, ONE_GPU)
        return all([check_split(bench, whole, plan) for plan in (TWO_GPUS, SHARDED)])
    except RunError as error:
        print(f"FAIL two GPUs against one: {error}", flush=True)
        return False


def check_split(bench, whole, plan):
    """Prints a line; true when the plan's losses are near those of one GPU."""
    difference = largest_difference(whole, losses(bench, plan))
    passed = difference <= TOLERANCE
    print(f"{'PASS' if passed else 'FAIL'} {plan.name}: two GPUs against one, fp32, steps 1 to "
          f"{STEPS}: largest relative difference of losses {difference:.1e} (<= {TOLERANCE:.0e})",
          flush=True)
    return passed
