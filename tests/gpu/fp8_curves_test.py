"""The verdict of tests/gpu/fp8_curves.py, and how it continues a killed command; without a GPU."""
import json
import pathlib
import tempfile
import types
import unittest

import fp8_curves
from fp8_curves import CurveRun, Figures, History, compare, figures_of, runs_of
from trainer_run import write_token_file


class Verdict(unittest.TestCase):
    def test_the_mean_over_the_seeds_must_lie_between_those_of_bf16(self):
        bf16 = [3.0, 3.2, 3.1]
        self.assertTrue(compare([3.0, 3.3, 3.2], bf16).is_inside)
        for fp8 in ([3.3, 3.2, 3.2], [2.9, 2.9, 3.0], [3.1, float("nan"), 3.1]):
            self.assertFalse(compare(fp8, bf16).is_inside)

    def test_distances_are_those_of_equal_seeds(self):
        result = compare([3.1, 3.3, 3.2], [3.0, 3.2, 3.1])
        self.assertAlmostEqual(result.distance, 0.1)
        self.assertAlmostEqual(result.error, 0)

    def test_the_last_steps_count(self):
        losses = [9.0] * 50 + [2.0] * fp8_curves.WINDOW
        self.assertEqual(figures_of(losses, 3.0), Figures(2.0, 3.0))

    def test_a_recipe_outside_fails_the_report(self):
        runs = runs_of("llama-124m")
        curves = {run: ([3.0 + run.seed / 10] * 100, 3.0 + run.seed / 10) for run in runs}
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            self.assertTrue(fp8_curves.report("llama-124m", out, curves))
            for run in runs:
                if run.fp8 == "delayed":
                    curves[run] = ([4.0] * 100, 3.1)
            self.assertFalse(fp8_curves.report("llama-124m", out, curves))
            text = (out / "curves-llama-124m.md").read_text()
            self.assertEqual(text.count("OUTSIDE"), 1)
            header = (out / "curves-llama-124m.csv").read_text().splitlines()[0]
            self.assertEqual(header.split(",")[2], "llama-124m-delayed-1")


class Runs(unittest.TestCase):
    def test_recipes_share_the_seeds_and_the_data_of_bf16(self):
        runs = runs_of("llama-124m")
        self.assertEqual(len(runs), 15)
        for fp8 in ("", "delayed", "current"):
            self.assertEqual([run.seed for run in runs if run.fp8 == fp8], list(fp8_curves.SEEDS))
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            write_token_file(data, "train", 1000, list(range(100)))
            options = types.SimpleNamespace(data=data, steps=200)
            settings = [fp8_curves.settings_for(run, options) for run in runs]
        self.assertEqual(len({one["data"]["seed"] for one in settings}), 1)
        self.assertEqual({one["train"].get("fp8") for one in settings},
                         {None, "delayed", "current"})
        self.assertEqual(settings[0]["model"]["vocab_size"], 1024)


class Continuation(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.history = History(pathlib.Path(self.folder.name), CurveRun("llama-124m", 1))

    def write_part(self, records):
        rank = self.history.next_part() / "rank0"
        rank.mkdir(parents=True)
        (rank / "telemetry.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))

    def step(self, number, loss):
        return {"type": "metrics", "step": number, "loss": loss}

    def test_parts_of_a_run_are_one_curve(self):
        checkpoint = pathlib.Path(self.folder.name) / "step_2"
        checkpoint.mkdir()
        self.assertEqual(self.history.newest_checkpoint(), "")
        self.write_part([self.step(1, 5.0), self.step(2, 4.0),
                         {"type": "checkpoint", "path": str(checkpoint)}, self.step(3, 3.5)])
        self.assertEqual(self.history.newest_checkpoint(), str(checkpoint))
        self.assertIsNone(self.history.validation_loss(4))
        self.write_part([self.step(3, 3.0), self.step(4, 2.0),
                         {"type": "eval", "step": 4, "loss": 2.5}])
        self.assertEqual(self.history.losses(), {1: 5.0, 2: 4.0, 3: 3.0, 4: 2.0})
        self.assertEqual(self.history.validation_loss(4), 2.5)

    def test_a_deleted_checkpoint_is_not_continued(self):
        self.write_part([{"type": "checkpoint", "path": f"{self.folder.name}/gone"}])
        self.assertEqual(self.history.newest_checkpoint(), "")


if __name__ == "__main__":
    unittest.main()
