"""A real Prometheus scrapes a live cluster; every panel, rule and variable must find data.

live_test.py PROGRAM_DIRECTORY FAKE_NVML: starts controller, two workers (one with made-up GPUs), jobs
with a small trainer, and Prometheus with the rules of deploy/prometheus. Takes about 15 s.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import observability as obs

PROGRAMS, FAKE_NVML = sys.argv[1:3]
DEADLINE = 90

TRAINER = '''
import json, os, sys, time
rank, attempt = int(os.environ["RANK"]), int(os.environ["TRAINYARD_ATTEMPT"])
out = open(os.environ["TRAINYARD_TELEMETRY"], "a", buffering=1)
def say(**record):
    print(json.dumps({"time_ms": int(time.time() * 1000), **record}), file=out, flush=True)
say(type="phase", phase="train", step=0)
for step in range(1, 10000):
    time.sleep(0.2)
    print("step", step, flush=True)
    if rank != 0:
        continue
    say(type="metrics", step=step, total_steps=10000, loss=5 / step, grad_norm=1.5, lr=3e-4,
        step_seconds=0.2, tokens_per_second=5000.0, samples_per_second=5.0, mfu=0.4,
        mfu_causal=0.35, perplexity=12.0, noise_scale=300.0, loss_scale=65536.0,
        skipped_steps=2, tokens=1000 * step, memory_bytes=1 << 30, data_stall_seconds=0.01,
        moe_balance_max=1.5, moe_balance_mean=1.2, moe_aux_loss=1.01, moe_router_entropy_min=0.8,
        moe_dropped_share=0.0, compute_seconds=0.15, input_wait_seconds=0.01, tp_wait_seconds=0.01,
        cp_wait_seconds=0.0, ep_wait_seconds=0.01, pp_wait_seconds=0.0, dp_wait_seconds=0.01,
        world_wait_seconds=0.0, optimizer_seconds=0.01, checkpoint_wait_seconds=0.0)
    say(type="experts", step=step, expert_count=8, topk=2, balance=[1.5, 1.25])
    if step % 10 == 5:
        say(type="checkpoint", step=step, path=os.environ["TRAINYARD_CHECKPOINT_DIR"], bytes=1000,
            blocking_seconds=0.01, total_seconds=0.1)
        say(type="eval", step=step, data_set="val", loss=5 / step, tokens=1000)
    if step == 8:
        say(type="alert", step=step, code="loss_spike", message="made up")
    if attempt == 1 and step == 30:
        sys.exit(3)
'''

JOB = """name: {name}
resources: {{nodes: {nodes}, slots_per_node: {slots}, device: {device}}}
restart: {{max_restarts: 3, backoff: 0}}
torchrun_env: true
command: [{python}, {program}]
"""

SHORT_JOB = """name: short
resources: {nodes: 1, slots_per_node: 1, device: gpu}
command: [/bin/true]
"""


def wait_for(what, condition, seconds=DEADLINE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"waited {seconds} s for {what}")


class LiveCluster:
    """Real processes in a directory of their own; all of them end with this object."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="trainyard-live-")
        os.environ["TRAINYARD_TOKEN_FILE"] = self.path("controller", "token")
        self.children = []

    def path(self, *parts):
        return os.path.join(self.directory, *parts)

    def start(self, name, arguments, environment=None):
        with open(self.path(name + ".log"), "ab") as log:
            child = subprocess.Popen(arguments, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                     env={**os.environ, **(environment or {})})
        self.children.append(child)

    def file_text(self, *parts):
        path = self.path(*parts)
        return wait_for(path, lambda: os.path.exists(path) and obs.read(path).strip())

    def stop(self):
        for child in reversed(self.children):
            child.terminate()
        for child in reversed(self.children):
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        shutil.rmtree(self.directory)

    def start_trainyard(self):
        self.start("controller", [
            PROGRAMS + "/trainyard-controller", "--listen", "127.0.0.1:0", "--http-listen",
            "127.0.0.1:0", "--data-dir", self.path("controller"), "--listen-file",
            self.path("address")
        ])
        self.address = self.file_text("address")
        os.mkdir(self.path("nvml"))
        shutil.copy(FAKE_NVML, self.path("nvml", "libnvidia-ml.so.1"))
        for node, environment in (("cpu", {}), ("gpu", {"LD_LIBRARY_PATH": self.path("nvml")})):
            self.start(node, [
                PROGRAMS + "/trainyard-worker", "--controller", self.address, "--data-dir",
                self.path(node), "--node-name", node, "--cpu-slots", "1", "--metrics-listen",
                "127.0.0.1:0", "--stop-ranks-on-exit"
            ], environment)
        wait_for("two nodes", lambda: self.cli("nodes").stdout.count(" ready ") == 2)

    def cli(self, *arguments):
        return subprocess.run([PROGRAMS + "/trainyard", "--server", self.address, *arguments],
                              capture_output=True, text=True, timeout=30)

    def submit(self, name, text):
        with open(self.path(name + ".yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        result = self.cli("submit", self.path(name + ".yaml"))
        assert result.returncode == 0, result.stderr

    def start_jobs(self):
        with open(self.path("train.py"), "w", encoding="utf-8") as file:
            file.write(TRAINER)
        about = {"python": sys.executable, "program": self.path("train.py")}
        self.submit("llama", JOB.format(name="llama", nodes=2, slots=1, device="cpu", **about))
        self.submit("gpus", JOB.format(name="gpus", nodes=1, slots=2, device="gpu", **about))
        self.submit("short", SHORT_JOB)
        self.submit("waits", JOB.format(name="waits", nodes=1, slots=1, device="cpu", **about))
        assert self.cli("describe", "999").returncode != 0

    def start_prometheus(self):
        config = obs.read(os.path.join(obs.ROOT, "deploy/prometheus/prometheus.yml"))
        workers = ", ".join(f'"{self.file_text(node, "metrics_address")}"' for node in ("cpu", "gpu"))
        for before, after in (
            ("scrape_interval: 15s", "scrape_interval: 1s"),
            ("evaluation_interval: 15s", "evaluation_interval: 1s"),
            ("rules/*.yml", os.path.join(obs.ROOT, "deploy/prometheus/rules/*.yml")),
            ('{targets: ["127.0.0.1:7071"]}', f'{{targets: ["{self.file_text("address.http")}"]}}'),
            ('{targets: ["127.0.0.1:7072"]}', f"{{targets: [{workers}]}}"),
        ):
            assert before in config, before
            config = config.replace(before, after)
        with open(self.path("prometheus.yml"), "w", encoding="utf-8") as file:
            file.write(config)
        self.start("prometheus", [
            "prometheus", "--config.file=" + self.path("prometheus.yml"),
            "--storage.tsdb.path=" + self.path("prometheus"), "--web.listen-address=127.0.0.1:0"
        ])
        # Prometheus reports its actual port only in its log.
        log = self.path("prometheus.log")
        found = wait_for("Prometheus", lambda: re.search(
            r'msg="Listening on" address=(\S+:[1-9]\d*)', obs.read(log)))
        self.prometheus = "http://" + found.group(1)
        wait_for("Prometheus to be ready", self.ready)

    def ready(self):
        try:
            return urllib.request.urlopen(self.prometheus + "/-/ready", timeout=5).status == 200
        except OSError:
            return False

    def get(self, path, **parameters):
        url = f"{self.prometheus}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]

    def has_data(self, expr):
        return bool(self.get("query", query=expr)["result"])


class LiveTest(unittest.TestCase):
    # The cluster of this test has its stores in SQLite files.
    of_databases = obs.metrics_of_database_servers()

    @classmethod
    def setUpClass(cls):
        cls.cluster = LiveCluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start_trainyard()
        cls.cluster.start_prometheus()
        cls.cluster.start_jobs()

    def wait_for_data(self, expressions):
        """Waits until each (where, expression) has been seen to return something."""
        missing = list(expressions)
        end = time.monotonic() + DEADLINE
        while missing and time.monotonic() < end:
            missing = [(where, expr) for where, expr in missing if not self.cluster.has_data(expr)]
            time.sleep(0.5)
        self.assertFalse(missing, "no data")

    def test_targets_are_scraped_without_complaint(self):
        def all_up():
            targets = self.cluster.get("targets")["activeTargets"]
            return len(targets) == 3 and all(target["health"] == "up" for target in targets)
        wait_for("three targets", all_up)
        for target in self.cluster.get("targets")["activeTargets"]:
            self.assertEqual(target["lastError"], "")

    def test_every_panel_has_data(self):
        values = {"job_id": "1|2", "controller": ".*"}
        wanted = [(f"{name}: {title}", obs.fill_in(expr, values))
                  for name, board in obs.dashboards().items()
                  for title, expr in obs.panel_expressions(board)
                  if not obs.metrics_of(expr) & self.of_databases]
        self.wait_for_data(wanted)

    def test_every_recording_rule_has_data(self):
        self.wait_for_data([(rule.name, rule.name) for rule in obs.rules() if not rule.is_alert])

    def test_every_alert_reads_series_that_exist(self):
        names = {name for rule in obs.rules() if rule.is_alert for name in obs.metrics_of(rule.expr)}
        names -= self.of_databases
        self.wait_for_data([(name, name) for name in sorted(names)])

    def test_rules_are_evaluated_and_the_right_alert_fires(self):
        self.wait_for_data([("alert of the trainer", 'ALERTS{alertname="TrainyardTrainerAlert", '
                             'alertstate="firing", job_id="1", code="loss_spike"}')])
        for group in self.cluster.get("rules")["groups"]:
            for rule in group["rules"]:
                self.assertEqual(rule["health"], "ok", rule)
        for page in ("TrainyardControllerDown", "TrainyardNodeUnresponsive", "TrainyardNoSteps"):
            self.assertFalse(self.cluster.has_data(f'ALERTS{{alertname="{page}"}}'), page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
