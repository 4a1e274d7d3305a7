"""Layouts that the planner lists for random small models run one step on CPU slots, on numbers of
ranks that need not be powers of two: the trainer accepts each of them. A seed passes over plans that
have no kind of layout which has not occurred yet, so that all kinds occur in a few runs.

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
SEEDS = [20261123, 20261124, 20261125]
RUNS = 2  # Runs of each seed.
PLANS = 60  # At most, of each seed.
# Each must have occurred in the end.
KINDS = {"tp", "cp", "pp", "dp", "zero"}


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


def kinds_of(layout):
    return {kind for kind in KINDS if layout[kind] > (0 if kind == "zero" else 1)}


def newest(choose, planned, seen):
    """One of the layouts with the most kinds that have not been seen; None where it has none of
    those that are still missing."""
    most = max((len(kinds_of(layout) - seen) for layout in planned), default=0)
    if most == 0 and (not planned or not KINDS <= seen):
        return None
    return choose.choice([layout for layout in planned if len(kinds_of(layout) - seen) == most])


class PlannedLayouts(unittest.TestCase):
    def test_each_runs_a_step(self):
        seen = set()
        for seed in SEEDS:
            seen |= self.run_layouts(random.Random(seed), seen)
        self.assertLessEqual(KINDS, seen)

    def run_layouts(self, choose, seen):
        """Returns the kinds of the layouts that ran."""
        tried, kinds = 0, set(seen)
        with tempfile.TemporaryDirectory(prefix="trainyard-layouts-") as name:
            folder = pathlib.Path(name)
            tokens = run_gang.write_tokens(folder)
            for _ in range(PLANS):
                if tried == RUNS:
                    break
                ranks = choose.choice([2, 3, 4])
                run = random_run(choose, tokens)
                job_file = folder / "run.yaml"
                job_file.write_text(json.dumps(run))
                layout = newest(choose, planned_layouts(job_file, ranks), kinds)
                if layout is None:
                    continue  # No layout of so many ranks keeps the rules, or none is new.
                kinds |= kinds_of(layout)
                # 0 and null mean that the setting is not set.
                layout = {key: value for key, value in layout.items()
                          if value not in (0, None) or key == "zero"}
                tried += 1
                run["layout"] = layout
                run["resources"]["slots_per_node"] = ranks
                with self.subTest(run=run):
                    with run_gang.Gang(PROGRAMS / "trainyard-trainer", run, folder) as gang:
                        self.assertEqual(set(gang.exit_codes()), {0}, gang.output())
                        self.assertEqual(list(gang.losses()), [1])
        return kinds


if __name__ == "__main__":
    unittest.main()
