"""Each trainable recipe has a twin: the same architecture and kind of layout with small sizes, made
by a rule. It trains a few steps on CPU slots, and its parameters are counted.

usage: twins_test.py PROGRAMS, the folder of trainyard and trainyard-trainer
"""
import json
import pathlib
import sys
import tempfile
import unittest

import run_gang

PROGRAMS = pathlib.Path(sys.argv.pop()).resolve()
MOST_RANKS = 4
STEPS = 6


def small_layout(layout):
    """Every axis that the recipe uses is 2 wide, as long as there are ranks: the model's axes come
    first, since dp is what every run has."""
    small = dict(layout)
    ranks = 1
    for axis in ("tp", "pp", "cp", "dp"):
        wide = layout[axis] > 1 and ranks < MOST_RANKS
        small[axis] = 2 if wide else 1
        ranks *= small[axis]
    # Experts are divided among 2 ranks of tp and dp.
    small["ep"] = 2 if layout["ep"] > 1 and small["tp"] * small["dp"] > 1 else 1
    if small["ep"] > 1:
        small["etp"] = 1
    small["vpp"] = min(layout["vpp"], 2) if small["pp"] > 1 else 1
    small["zero_bubble"] = layout["zero_bubble"] and small["pp"] > 1
    small["micro_batch"] = 1
    for key in ("zero_size", "recompute_num_layers"):
        small.pop(key, None)
    return small


def small_model(model, layout):
    small = dict(model, num_layers=2 * layout["pp"] * layout["vpp"], hidden_size=32,
                 ffn_hidden_size=64, num_attention_heads=4, vocab_size=run_gang.VOCABULARY)
    shares_keys = model["num_query_groups"] < model["num_attention_heads"]
    small["num_query_groups"] = 2 if shares_keys else 4
    if "kv_channels" in model:
        small["kv_channels"] = 12
    if "max_position_embeddings" in model:
        small["max_position_embeddings"] = 32
    for key in ("moe_ffn_hidden_size", "moe_shared_expert_intermediate_size"):
        if key in model:
            small[key] = 32
    if "num_experts" in model:
        small.update(num_experts=8, moe_router_topk=2,
                     moe_dense_layers=min(model.get("moe_dense_layers", 0), 1))
        if not small["moe_dense_layers"]:
            del small["moe_dense_layers"]
        if "moe_router_num_groups" in model:
            small.update(moe_router_num_groups=4, moe_router_group_topk=2)
    if model.get("multi_latent_attention"):
        small.update(q_lora_rank=16, kv_lora_rank=16, qk_head_dim=8, qk_pos_emb_head_dim=4,
                     v_head_dim=8)
    return small


def fp8_settings(train):
    return {key: value for key, value in train.items() if key.startswith("fp8")}


def twin_of(spec, tokens):
    layout = small_layout(spec["layout"])
    batch = 4 * layout["dp"] * layout["pp"]
    return {"name": spec["name"] + "-twin",
            "resources": {"device": "cpu", "nodes": 1, "slots_per_node": run_gang.ranks_of(layout)},
            "layout": layout, "model": small_model(spec["model"], layout),
            "data": {"path": str(tokens), "format": "nanogpt"},
            "train": {"seq_length": 32, "global_batch": batch, "steps": STEPS, "precision": "fp32",
                      "threads": 1, **fp8_settings(spec["train"])},
            "optimizer": dict(spec["optimizer"], lr=1e-2, min_lr=1e-3),
            "schedule": {"kind": spec["schedule"]["kind"], "warmup_steps": 1},
            "checkpoint": {"every_steps": 0}}


def trainable_recipes():
    listed = run_gang.command_line(PROGRAMS / "trainyard", "recipe", "check", "--all")
    return [recipe["name"] for recipe in listed]


def resolved(recipe):
    plan = run_gang.command_line(PROGRAMS / "trainyard", "plan", recipe, "--offline", "--set",
                                 "data.path=/data")
    return plan["spec"]


def distinct_twins(tokens):
    """Recipes by the twin that they share: those of one architecture and layout differ in sizes
    only."""
    twins = {}
    for recipe in trainable_recipes():
        twin = twin_of(resolved(recipe), tokens)
        key = repr([twin["layout"], twin["model"], fp8_settings(twin["train"])])
        twins.setdefault(key, (twin, []))[1].append(recipe)
    return list(twins.values())


class RecipeTwins(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="trainyard-twins-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tokens = run_gang.write_tokens(self.folder)

    def counted_parameters(self, twin):
        job_file = self.folder / "twin.yaml"
        job_file.write_text(json.dumps(twin))
        checked, = run_gang.command_line(PROGRAMS / "trainyard", "recipe", "check", job_file)
        return checked["parameters"]

    def test_each_trains_under_its_own_layout(self):
        twins = distinct_twins(self.tokens)
        self.assertGreaterEqual(len(twins), 8)
        for twin, recipes in twins:
            with self.subTest(recipes=recipes, layout=twin["layout"]):
                with run_gang.Gang(PROGRAMS / "trainyard-trainer", twin, self.folder) as gang:
                    codes = gang.exit_codes()
                    self.assertEqual(set(codes), {0}, gang.output())
                    losses = gang.losses()
                    self.assertEqual(gang.stored_parameters(), self.counted_parameters(twin))
                self.assertEqual(sorted(losses), list(range(1, STEPS + 1)))
                self.assertLess(losses[STEPS], losses[1])

    def test_every_kind_of_parallelism_of_the_recipes_is_there(self):
        layouts = [twin["layout"] for twin, _ in distinct_twins(self.tokens)]
        for axis in ("tp", "pp", "dp"):
            self.assertIn(2, {layout[axis] for layout in layouts}, axis)
        self.assertIn(3, {layout["zero"] for layout in layouts})


if __name__ == "__main__":
    unittest.main()
