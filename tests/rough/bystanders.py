"""Jobs of others: they train and work beside the mischief, and must not notice."""
import csv
import io
import time

STEPS = 150
RESTARTS = {"max_restarts": 100_000, "backoff": 0}


def training(site, name, nodes):
    """A small LLaMA over several nodes, whose losses tell any wrong resume."""
    return {
        "name": name, "resources": {"nodes": nodes, "device": "cpu"}, "layout": {"micro_batch": 2},
        "model": {"num_layers": 2, "hidden_size": 64, "ffn_hidden_size": 128,
                  "num_attention_heads": 4, "num_query_groups": 2, "vocab_size": 2048},
        "data": {"path": str(site.tokens)},
        "train": {"seq_length": 64, "global_batch": 8, "steps": STEPS, "precision": "fp32",
                  "threads": 1},
        "optimizer": {"lr": 1e-3, "min_lr": 1e-4}, "schedule": {"warmup_steps": 10},
        "evaluation": {"every_steps": 0}, "checkpoint": {"every_steps": 10, "keep_last": 3},
        "restart": RESTARTS, "stop_grace": "20s"}


def short(name):
    return {"name": name, "resources": {"device": "cpu"}, "command": ["/bin/echo", name]}


def losses(site, number):
    """{step: loss as text}, exactly as stored; empty while the controller does not serve."""
    code, out, _ = site.cli("metrics", number, "loss", "-o", "csv")
    if code != 0:
        return {}
    rows = list(csv.reader(io.StringIO(out)))
    return {int(row[0]): row[2] for row in rows[1:]}


class Bystanders:
    """Keeps two training jobs running and submits a short job now and then."""

    def __init__(self, site):
        self.site = site
        self.expected = {}  # Of the undisturbed runs: {nodes: losses}.
        self.training = {}  # nodes -> number of the job that runs now.
        self.short = {}     # number -> time of its submission.
        self.made = 0
        self.trained = 0
        self.compared = 0
        self.done = 0
        self.lost_with_a_node = 0
        self.begun = {}     # number -> time of its submission.
        self.wrong = []

    def blame(self, text):
        """Says at once what is wrong: a run that is cut short must not lose it."""
        self.site.say(f"WRONG: {text}")
        self.wrong.append(text)

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
            time.sleep(0.5)
        self.blame(f"job {number} has not ended after {seconds} s")
        return None

    def look(self):
        """Checks what has ended and submits what is missing."""
        self.site.revive_workers()
        for nodes, number in list(self.training.items()):
            job = self.site.job(number)
            if job is not None and is_over(job):
                del self.training[nodes]
                self.check_training(job, nodes)
        for number in list(self.short):
            job = self.site.job(number)
            if job is not None and is_over(job):
                del self.short[number]
                self.check_short(job)
        for nodes in self.expected:
            if nodes not in self.training:
                self.submit(self.training, nodes, training(self.site, self.name("train"), nodes))
        if len(self.short) < 4:
            spec = short(self.name("short"))
            number = self.site.try_submit(spec)
            if number is not None:
                self.short[number] = time.monotonic()

    def name(self, kind):
        self.made += 1
        return f"{kind}-{self.made}"

    def submit(self, where, key, spec):
        number = self.site.try_submit(spec)
        if number is not None:
            where[key] = number
            self.begun[number] = time.monotonic()

    def check_training(self, job, nodes):
        self.trained += 1
        if job["state"] != "succeeded":
            self.blame(f"training job {job['id']} ended as {job['state']}: "
                       f"{job.get('reason') or job}")
            return
        # The rest arrives from the workers shortly after the end.
        end = time.monotonic() + 60
        found = losses(self.site, job["id"])
        while found != self.expected[nodes] and time.monotonic() < end:
            time.sleep(1)
            found = losses(self.site, job["id"])
        self.compared += len(found)
        wrong = [step for step, loss in found.items() if loss != self.expected[nodes].get(step)]
        if wrong:
            self.blame(f"training job {job['id']} over {nodes} nodes has other losses than "
                       f"the undisturbed run at {len(wrong)} steps, from {wrong[:3]} on")
        missing = len(self.expected[nodes]) - len(found)
        if missing > 0 and self.site.data_lost_at > self.begun.get(job["id"], 0):
            # They were in the directory: its worker had not sent them yet.
            self.lost_with_a_node += missing
        elif missing > 0:
            self.blame(f"training job {job['id']} lacks {missing} losses")

    def check_short(self, job):
        self.done += 1
        if job["state"] != "succeeded":
            self.blame(f"short job {job['id']} ended as {job['state']}: "
                       f"{job.get('reason') or job}")

    def finish(self, seconds):
        """Waits for those that run, without new ones."""
        for nodes, number in self.training.items():
            job = self.await_end(number, seconds)
            if job is not None:
                self.check_training(job, nodes)
        for number in self.short:
            job = self.await_end(number, seconds)
            if job is not None:
                self.check_short(job)


def is_over(job):
    return job["state"] in ("succeeded", "failed", "stopped")
