"""Equal runs are equal to the last bit: twice from one seed, with saves, and after kill -9."""
import dataclasses
import shutil

from rows import ROWS
from trainer_run import RunError, last_step, metrics, saves

STEPS = 50
SAVED_STEP = 20
KILLED_STEP = 30

# (micro-batch size, micro-batches per step), small because each row runs fifty steps four times.
BATCHES = {"162m": (32, 1), "1.5b": (4, 2), "tiny-cpu": (4, 2)}
PLANS = {name: dataclasses.replace(ROWS[name].plan, micro_batch=size, accumulation=count)
         for name, (size, count) in BATCHES.items()}
# Two layers of the models of experts, with real routing: a checkpoint has at most 16 GB.
for model in ("m8", "d64"):
    real = ROWS[f"{model}-real-mbs8"].plan
    PLANS[model] = dataclasses.replace(real, name=model, micro_batch=2, accumulation=2,
                                       shape=dataclasses.replace(real.shape, layers=2))
# Two GPUs read parts of a checkpoint and exchange them. A single GPU uses another code path.
PLANS["162m-dp2"] = dataclasses.replace(PLANS["162m"], name="162m-dp2", ranks=2)
DEFAULT_ROWS = ["162m", "1.5b"]


def curve(records):
    """Step -> its loss and gradient norm: doubles that telemetry prints in full."""
    return {record["step"]: (record["loss"], record["grad_norm"]) for record in metrics(records)}


def first_difference(one, other, first, last):
    """The first step from `first` to `last` at which the curves differ or one has none; or None."""
    for step in range(first, last + 1):
        if step not in one or one.get(step) != other.get(step):
            return step
    return None


@dataclasses.dataclass(frozen=True)
class Check:
    """A comparison of steps `first` to `last`, and the first step that differs."""

    subject: str
    first: int
    last: int
    difference: str = ""

    def line(self):
        steps = f"steps {self.first} to {self.last}"
        if self.difference:
            return f"FAIL {self.subject}, {steps}: {self.difference}"
        return f"PASS {self.subject}, {steps}: losses and gradient norms equal bit for bit"


def compare(subject, one, other, first, last):
    step = first_difference(one, other, first, last)
    if step is None:
        return Check(subject, first, last)
    return Check(subject, first, last,
                 f"step {step} has loss and gradient norm {one.get(step)} and {other.get(step)}")


def run_to(bench, plan, label, done, checkpoints, resume_from=""):
    """Telemetry of a run that is killed as soon as done(records)."""
    folder = bench.new_folder(f"determinism-{plan.name}-{label}")
    with bench.start(plan, folder, checkpoints, resume_from) as run:
        return run.wait_until(done, bench.timeout)


def all_steps(records):
    return last_step(records) >= STEPS


def first_save(records):
    """The path of the first checkpoint, which may be published some steps after its own."""
    return next((save["path"] for save in saves(records) if save["step"] == SAVED_STEP), None)


def is_time_to_kill(records):
    return last_step(records) >= KILLED_STEP and first_save(records) is not None


def check_plan(bench, plan, checkpoints):
    """Yields checks as they are made; saved state lies in `checkpoints`."""
    truth = curve(run_to(bench, plan, "a", all_steps, checkpoints))
    again = curve(run_to(bench, plan, "b", all_steps, checkpoints))
    yield compare(f"{plan.name}: two runs of one seed", truth, again, 1, STEPS)

    saving = dataclasses.replace(plan, save_every=SAVED_STEP)
    records = run_to(bench, saving, "killed", is_time_to_kill, checkpoints)
    yield compare(f"{plan.name}: a run that saves", truth, curve(records), 1,
                  min(last_step(records), STEPS))

    resumed = run_to(bench, saving, "resumed", all_steps, checkpoints, first_save(records))
    yield compare(f"{plan.name}: kill -9 and resume", truth, curve(resumed), SAVED_STEP + 1, STEPS)


def check(bench, names):
    """Prints a line for each check; true when all pass."""
    passed = True
    for name in names:
        checkpoints = bench.scratch / f"checkpoints-determinism-{name}"
        shutil.rmtree(checkpoints, ignore_errors=True)
        try:
            for made in check_plan(bench, PLANS[name], checkpoints):
                print(made.line(), flush=True)
                passed = passed and not made.difference
        except RunError as error:
            print(f"FAIL {name}: {error}", flush=True)
            passed = False
        finally:
            shutil.rmtree(checkpoints, ignore_errors=True)
    return passed
