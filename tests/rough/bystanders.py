"""Jobs of others: they train and work beside the mischief, and must not notice."""
import csv
import io
import shutil
import time

STEPS = 150
RESTARTS = {"max_restarts": 100_000, "backoff": 0}
# Time limit for the rest of a job's losses to arrive from the workers.
ARRIVAL_SECONDS = 60
# Maximum duration of a quarantine (Site.end_quarantines).
QUARANTINE_SECONDS = 20


def training(site, name, nodes, **checkpoint):
    """A small LLaMA over several nodes, whose losses tell any wrong resume."""
    return {
        "name": name, "resources": {"nodes": nodes, "device": "cpu"}, "layout": {"micro_batch": 2},
        "model": {"num_layers": 2, "hidden_size": 64, "ffn_hidden_size": 128,
                  "num_attention_heads": 4, "num_query_groups": 2, "vocab_size": 2048},
        "data": {"path": str(site.tokens)},
        "train": {"seq_length": 64, "global_batch": 8, "steps": STEPS, "precision": "fp32",
                  "threads": 1},
        "optimizer": {"lr": 1e-3, "min_lr": 1e-4}, "schedule": {"warmup_steps": 10},
        "evaluation": {"every_steps": 0},
        "checkpoint": {"every_steps": 10, "keep_last": 3, **checkpoint},
        "restart": RESTARTS, "stop_grace": "20s"}


def short(name):
    return {"name": name, "resources": {"device": "cpu"}, "command": ["/bin/echo", name]}


def losses(site, number, **options):
    """{step: loss as text}, exactly as stored; empty while the controller does not serve."""
    code, out, _ = site.cli("metrics", number, "loss", "-o", "csv", **options)
    if code != 0:
        return {}
    rows = list(csv.reader(io.StringIO(out)))
    return {int(row[0]): row[2] for row in rows[1:]}


class Bystanders:
    """Keeps two training jobs running and submits a short job now and then."""

    def __init__(self, site):
        self.site = site
        self.count = site.record.count
        self.expected = {}  # Undisturbed runs: {nodes: losses}.
        self.training = {}  # Number of a job -> its nodes.
        self.guests = {}    # Nodes of jobs that a misfortune has brought.
        self.short = set()
        self.begun = {}     # Number -> time of its submission.
        self.made = 0
        self.ended = None   # Newest training job that has ended well, as `describe` has it.
        self.ended_losses = {}

    def blame(self, text):
        self.count("jobs of others failed")
        self.site.blame(text)

    def prepare(self):
        """Trains once undisturbed for each number of nodes."""
        for nodes in (1, 2):
            number = self.site.try_submit(training(self.site, f"undisturbed-{nodes}", nodes))
            self.await_end(number, 300)
            self.expected[nodes] = losses(self.site, number)
            if len(self.expected[nodes]) != STEPS:
                raise RuntimeError(f"the undisturbed run has {len(self.expected[nodes])} losses")

    def await_end(self, number, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            job = self.site.job(number)
            if job is not None and is_over(job):
                return job
            self.site.revive_workers()
            self.site.end_quarantines(QUARANTINE_SECONDS)
            time.sleep(0.5)
        self.site.blame(f"job {number} has not ended after {seconds} s")
        return None

    def look(self):
        """Checks what has ended and submits what is missing."""
        self.site.revive_workers()
        self.site.end_quarantines(QUARANTINE_SECONDS)
        self.check_ended()
        for nodes in self.expected:
            if nodes not in self.training.values():
                self.submit_training(nodes)
        if len(self.short) < 4:
            number = self.site.try_submit(short(self.name("short")))
            if number is not None:
                self.short.add(number)

    def check_ended(self):
        for number in [*self.training, *self.guests, *self.short]:
            job = self.site.job(number)
            if job is not None and is_over(job):
                self.check(job)

    def name(self, kind):
        self.made += 1
        return f"{kind}-{self.made}"

    def submit_training(self, nodes, is_guest=False, **checkpoint):
        """Number of the job, or None."""
        name = self.name("guest" if is_guest else "train")
        number = self.site.try_submit(training(self.site, name, nodes, **checkpoint))
        if number is not None:
            (self.guests if is_guest else self.training)[number] = nodes
            self.begun[number] = time.monotonic()
        return number

    def check(self, job):
        """Judges a job that has ended, and knows it no more."""
        number = int(job["id"])
        kind = "short jobs" if number in self.short else "training jobs"
        self.count(kind)
        self.count("attempts of others", len(job.get("attempts", [])))
        nodes = self.training.pop(number, None) or self.guests.pop(number, None)
        self.short.discard(number)
        if job["state"] != "succeeded":
            self.blame(f"job {number} ({job['name']}) of others ended as {job['state']}: "
                       f"{(job.get('verdict') or {}).get('summary') or job}")
        elif nodes is not None:
            self.check_losses(job, nodes)
            self.keep(job, nodes)

    def check_losses(self, job, nodes):
        number = int(job["id"])
        expected = self.expected[nodes]
        end = time.monotonic() + ARRIVAL_SECONDS
        found = losses(self.site, number)
        while found != expected and time.monotonic() < end:
            self.site.revive_workers()
            time.sleep(1)
            found = losses(self.site, number)
        self.count("losses compared", len(found))
        wrong = [step for step, loss in found.items() if loss != expected.get(step)]
        if wrong:
            self.count("losses that differ", len(wrong))
            self.blame(f"training job {number} over {nodes} nodes has other losses than the "
                       f"undisturbed run at {len(wrong)} steps, from {wrong[:3]} on")
        missing = len(expected.keys() - found.keys())
        if missing > 0 and self.site.data_lost_at > self.begun[number]:
            # The losses were in the lost directory: its worker had not sent them yet.
            self.count("losses lost with a node", missing)
        elif missing > 0:
            self.count("losses missing", missing)
            self.blame(f"training job {number} lacks {missing} losses")

    def keep(self, job, nodes):
        """The newest one's checkpoints stay for what is tried on them; the disk is not endless."""
        if not self.checkpoints(job).exists():
            return  # It has saved elsewhere.
        if self.ended is not None:
            shutil.rmtree(self.checkpoints(self.ended), ignore_errors=True)
        self.ended = job
        self.ended_losses = self.expected[nodes]

    def checkpoints(self, job):
        return self.site.checkpoints_of(job["id"], job["name"])

    def finish(self, seconds):
        """Waits for those that run, without new ones."""
        for number in [*self.training, *self.guests, *self.short]:
            job = self.await_end(number, seconds)
            if job is not None:
                self.check(job)


def is_over(job):
    return job["state"] in ("succeeded", "failed", "stopped")
