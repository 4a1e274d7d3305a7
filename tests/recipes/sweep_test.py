"""`tune` on a machine without daemons: the sweep is written, measured by tests/gpu/sweep.py with
the trainer, and judged; the chosen settings and the calibration are files that `plan` reads.

usage: sweep_test.py PROGRAMS, the folder of trainyard and trainyard-trainer
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import run_gang

PROGRAMS = pathlib.Path(sys.argv.pop()).resolve()
SWEEP = pathlib.Path(__file__).resolve().parent.parent / "gpu" / "sweep.py"

JOB = {"name": "swept", "resources": {"device": "cpu", "slots_per_node": 2},
       "layout": {"dp": 2, "micro_batch": 1},
       "model": {"num_layers": 1, "hidden_size": 16, "ffn_hidden_size": 32,
                 "num_attention_heads": 2, "vocab_size": run_gang.VOCABULARY},
       "train": {"seq_length": 16, "global_batch": 4, "steps": 100, "precision": "fp32",
                 "threads": 1}}


class Sweep(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)
        self.job = self.path("job.yaml")
        self.job.write_text(json.dumps(JOB))

    def path(self, name):
        return self.folder / name

    def tune(self, *arguments):
        return subprocess.run([PROGRAMS / "trainyard", "tune", self.job, *arguments],
                              capture_output=True, text=True, check=False,
                              timeout=run_gang.DEADLINE_S)

    def measure(self):
        return subprocess.run(
            [sys.executable, "-B", SWEEP, "--trainer", PROGRAMS / "trainyard-trainer",
             self.path("sweep.json"), self.path("measured.json")],
            capture_output=True, text=True, check=False, timeout=run_gang.DEADLINE_S)

    def test_is_measured_and_judged_without_daemons(self):
        written = self.tune("--runs", "2", "--steps", "5", "--sweep", self.path("sweep.json"))
        self.assertEqual(written.returncode, 0, written.stderr)
        sweep = json.loads(self.path("sweep.json").read_text())
        # A run that cannot start is recorded as a row and does not end the sweep.
        layout = sweep["runs"][1]["spec"]["layout"]
        own, layout["micro_batch"] = layout["micro_batch"], 3
        self.path("sweep.json").write_text(json.dumps(sweep))

        run = self.measure()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"run 1 of {len(sweep['runs'])}", run.stdout)
        self.assertIn("data: random tokens (the job names none)", run.stdout)
        measured = json.loads(self.path("measured.json").read_text())
        metrics = measured["runs"][0]["metrics"]
        for name in ("step_seconds", "tokens_per_second", "memory_bytes"):
            self.assertEqual(len(metrics[name]), 5, name)
        self.assertGreater(metrics["compute_seconds"][0], 0)  # Told of some steps.
        measured["runs"][1]["spec"]["layout"]["micro_batch"] = own
        self.path("measured.json").write_text(json.dumps(measured))

        judged = self.tune("--measured", self.path("measured.json"), "--write",
                           self.path("tuned.yaml"), "--calibrate", self.path("cpu.yaml"),
                           "-o", "json")
        self.assertEqual(judged.returncode, 0, judged.stderr)
        self.assertIn("random tokens", judged.stderr)
        results = json.loads(judged.stdout)["results"]
        self.assertGreater(results[0]["tokens_per_second"], 0)
        self.assertGreater(results[0]["memory_bytes"], 0)
        self.assertIn("micro_batch", results[1]["failure"])
        planned = run_gang.command_line(PROGRAMS / "trainyard", "plan", self.path("tuned.yaml"),
                                        "--offline")
        self.assertTrue(planned)
        calibration = self.path("cpu.yaml").read_text()
        self.assertIn("device: CPU", calibration)
        self.assertIn("runs: 1", calibration.replace("runs: those", ""))


if __name__ == "__main__":
    unittest.main()
