"""Layouts that the planner lists for random small models run one step on CPU slots, on numbers of
ranks that need not be powers of two: the trainer accepts each of them.

usage: planned_layouts_test.py PROGRAMS, the folder of trainyard and trainyard-trainer
"""
import json
import pathlib
import random
import sys
import tempfile
import unittest

import run_gang

PROGRAMS = pathlib.Path(sys.argv.pop()).resolve()
SEED = 20261123
RUNS = 6


def random_run(choose, tokens):
    heads = choose.choice([2, 4, 6])
    return {"name": "random", "resources": {"device": "cpu"},
            "model": {"num_layers": choose.randint(2, 6), "hidden_size": heads * 8,
                      "ffn_hidden_size": 48, "num_attention_heads": heads,
                      "num_query_groups": choose.choice([heads, 2]),
                      "vocab_size": run_gang.VOCABULARY},
            "data": {"path": str(tokens), "format": "nanogpt"},
            "train": {"seq_length": choose.choice([24, 32, 48]),
                      "global_batch": choose.choice([1, 4, 6]), "steps": 1, "precision": "fp32",
                      "threads": 1},
            "checkpoint": {"every_steps": 0}}


def planned_layouts(job_file, ranks):
    """The best layout and those that need less memory, on a device of the planner's."""
    plan = run_gang.command_line(PROGRAMS / "trainyard", "plan", job_file, "--device", "V100",
                                 "--nodes", "1", "--per-node", str(ranks))
    return [planned["layout"] for planned in plan["pareto"]]


class PlannedLayouts(unittest.TestCase):
    def test_each_runs_a_step(self):
        choose = random.Random(SEED)
        tried = []
        with tempfile.TemporaryDirectory(prefix="trainyard-layouts-") as name:
            folder = pathlib.Path(name)
            tokens = run_gang.write_tokens(folder)
            while len(tried) < RUNS:
                ranks = choose.choice([2, 3, 4])
                run = random_run(choose, tokens)
                job_file = folder / "run.yaml"
                job_file.write_text(json.dumps(run))
                planned = planned_layouts(job_file, ranks)
                if not planned:
                    continue  # No layout of so many ranks keeps the rules.
                layout = choose.choice(planned)
                # dp follows from the ranks, and 0 stands for a setting that is not written.
                layout = {key: value for key, value in layout.items() if value != 0 or key == "zero"}
                tried.append(layout)
                run["layout"] = layout
                run["resources"]["slots_per_node"] = ranks
                with self.subTest(run=run):
                    with run_gang.Gang(PROGRAMS / "trainyard-trainer", run, folder) as gang:
                        self.assertEqual(set(gang.exit_codes()), {0}, gang.output())
                        self.assertEqual(list(gang.losses()), [1])
        kinds = {axis for layout in tried for axis in ("tp", "cp", "pp", "dp") if layout[axis] > 1}
        self.assertLessEqual({"dp", "pp"}, kinds, tried)


if __name__ == "__main__":
    unittest.main()
