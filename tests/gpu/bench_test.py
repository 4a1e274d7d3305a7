"""Statistics, settings, token files and verdicts of tests/gpu/bench.py, without a GPU."""
import argparse
import array
import contextlib
import dataclasses
import io
import json
import os
import pathlib
import tempfile
import unittest
import unittest.mock

import bench
import determinism
import mixture_rows
import predictions
import report
import rows
import splits
import trainer_run
from bench_row import Target
from model_shapes import MODELS
from trainer_run import RunPlan, Spread


def weights_of(shape):
    """Elements of all matrices."""
    keys = shape.key_heads * shape.head_size
    layer = shape.hidden * (2 * shape.hidden + 2 * keys + 3 * shape.ffn)
    tables = 1 if shape.tied else 2
    return shape.layers * layer + tables * shape.vocabulary * shape.hidden


def attention_weights(shape):
    """Elements of a layer's attention."""
    family, hidden = shape.family, shape.hidden
    if not shape.has_latent_attention:
        return hidden * shape.head_size * 2 * (shape.heads + shape.key_heads)
    rotary, plain, value = (family[key] for key in
                            ("qk_pos_emb_head_dim", "qk_head_dim", "v_head_dim"))
    queries = family["q_lora_rank"] * (hidden + shape.heads * (plain + rotary))
    latents = hidden * (family["kv_lora_rank"] + rotary)
    keys_and_values = family["kv_lora_rank"] * shape.heads * (plain + value)
    return queries + latents + keys_and_values + shape.heads * value * hidden


def mixture_weights(shape):
    """Elements of all matrices of a mixture of experts."""
    family = shape.family
    dense = family.get("moe_dense_layers", 0)
    width = (shape.experts * family.get("moe_ffn_hidden_size", shape.ffn)
             + family.get("moe_shared_expert_intermediate_size", 0))
    experts = shape.hidden * (3 * width + shape.experts)
    return (shape.layers * attention_weights(shape) + dense * 3 * shape.hidden * shape.ffn
            + (shape.layers - dense) * experts + 2 * shape.vocabulary * shape.hidden)


def step_record(step, seconds, time_ms, loss=1.0):
    return {"type": "metrics", "step": step, "step_seconds": seconds, "time_ms": time_ms,
            "loss": loss, "grad_norm": loss / 2, "memory_bytes": 5e9}


def steady(count, seconds=0.1):
    """A run that begins three seconds before the first of `count` steps, one behind the other."""
    return [{"type": "launch", "time_ms": -3000}] + [
        step_record(step, seconds, round(1e3 * seconds * step)) for step in range(1, count + 1)]


class VisibleGpus(unittest.TestCase):
    def test_a_run_uses_the_gpus_that_the_environment_shows(self):
        with unittest.mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": "2,3"}):
            self.assertEqual(trainer_run.visible_gpus(0, 2), ["2", "3"])
            self.assertEqual(trainer_run.visible_gpus(1, 1), ["3"])
            with self.assertRaisesRegex(trainer_run.RunError, "needs 3 GPUs, .* shows 2"):
                trainer_run.visible_gpus(0, 3)

    def test_without_a_choice_it_counts_from_0(self):
        with unittest.mock.patch.dict(os.environ):
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            self.assertEqual(trainer_run.visible_gpus(1, 2), ["1", "2"])


class Splits(unittest.TestCase):
    def test_both_plans_train_the_same_batch_in_steps(self):
        self.assertEqual(splits.ONE_GPU.global_batch, splits.TWO_GPUS.global_batch)
        self.assertEqual(splits.ONE_GPU.shape, splits.TWO_GPUS.shape)

    def test_splits_of_experts_train_the_batch_of_one_gpu(self):
        for one, plans in splits.EXPERTS:
            for plan in plans:
                self.assertEqual(plan.global_batch, one.global_batch, plan.name)
                self.assertEqual(plan.shape, one.shape, plan.name)

    def test_the_first_loss_has_a_limit_of_its_own(self):
        whole = {step: 2.0 for step in range(1, splits.STEPS + 1)}
        for step, passes in ((1, False), (7, True)):
            found = {**whole, step: 2.0002}
            with unittest.mock.patch.object(splits, "losses", return_value=found):
                plan = splits.expert_plan("ep2", splits.SMALL, 2, ep=2)
                self.assertEqual(
                    splits.check_split(None, whole, plan, splits.EXPERT_LIMITS), passes)

    def test_the_largest_difference_is_that_of_any_step(self):
        one = {step: 2.0 for step in range(1, splits.STEPS + 1)}
        other = {**one, 7: 2.0002}
        self.assertAlmostEqual(splits.largest_difference(one, other), 1e-4)


class Shapes(unittest.TestCase):
    def test_models_have_the_weights_that_their_names_say(self):
        for name, millions in (("llama-1.5b", 1545), ("llama3-8b", 8030), ("gpt-162m", 162)):
            self.assertEqual(round(weights_of(MODELS[name]) / 1e6), millions)


    def test_mixtures_have_the_parameters_that_their_names_say(self):
        for name, millions in (("m8", 3050), ("d64", 3410)):
            self.assertEqual(round(mixture_weights(MODELS[name]) / 1e6), millions)


class Statistics(unittest.TestCase):
    def test_spread_is_the_median_and_the_outer_tenths(self):
        spread = Spread.of([float(value) for value in range(101)])
        self.assertEqual((spread.median, spread.p10, spread.p90, spread.count), (50, 10, 90, 101))
        self.assertEqual(spread.scaled(2).p90, 180)

    def test_warm_up_is_not_timed(self):
        records = [step_record(1, 9.0, 9000), *steady(25)]
        self.assertEqual(trainer_run.timed_seconds(records, 1), [0.1] * 25)
        self.assertAlmostEqual(trainer_run.mean_gap_seconds(records, 1), 0.1)

    def test_a_line_in_the_writing_is_left_for_later(self):
        text = '{"type":"metrics","step":1}\n{"type":"metr'
        self.assertEqual(trainer_run.last_step(trainer_run.parse_records(text)), 1)
        self.assertEqual(trainer_run.last_step(trainer_run.parse_records("")), 0)

    def test_figures_of_a_run(self):
        plan = RunPlan("a", MODELS["llama-tiny"], micro_batch=2, accumulation=3)
        figures = rows.ours_of(plan, steady(24))
        self.assertEqual(figures["tokens_per_step"], 2 * 3 * 128)
        self.assertAlmostEqual(figures["tokens_per_second"], 2 * 3 * 128 / 0.1)
        self.assertEqual(figures["steps"], 20)
        self.assertEqual(figures["memory_gb"], 5)
        self.assertAlmostEqual(figures["first_step_seconds"], 3.1)

    def test_parts_of_a_start_end_with_the_first_step(self):
        records = [{"type": "launch", "time_ms": 1000},
                   {"type": "phase", "phase": "init", "time_ms": 3000},
                   {"type": "phase", "phase": "train", "time_ms": 9000},
                   step_record(1, 1.0, 9500), {"type": "phase", "phase": "done", "time_ms": 9900}]
        parts = trainer_run.start_parts(records)
        self.assertEqual(parts, {"libraries": 2.0, "init": 6.0, "train": 0.5})
        self.assertAlmostEqual(sum(parts.values()), trainer_run.seconds_to_first_step(records))
        self.assertEqual(rows.start_note(parts), "start, s: libraries 2.0, init 6.0, train 0.5")

    def test_parts_of_a_step_are_medians_of_the_measured_steps(self):
        records = [{"type": "rank", "step": 3, "compute_seconds": 9.0}] + [
            {"type": "rank", "step": 5 + i, "compute_seconds": 1.0 + i, "tp_wait_seconds": 0.5}
            for i in range(3)] + [{"type": "rank", "step": 9}]
        parts = trainer_run.step_parts(records, warmup=4)
        self.assertEqual((parts["compute"], parts["tp_wait"], parts["pp_wait"]), (2.0, 0.5, 0))
        self.assertEqual(rows.parts_note([parts, {}]),
                         "ms of a step: rank 0: compute 2000.0, tp wait 500.0; "
                         "rank 1: nothing measured")

    def test_rows_of_more_gpus_than_there_are_do_not_fit(self):
        self.assertTrue(rows.fits(rows.ROWS["tp2"], 2))
        self.assertFalse(rows.fits(rows.ROWS["8b-zero1-x4"], 2))
        self.assertTrue(rows.fits(rows.ROWS["tiny-cpu"], 0))

    def test_reading_a_checkpoint_is_the_phase_load(self):
        phases = [{"type": "phase", "phase": name, "time_ms": time_ms}
                  for name, time_ms in (("init", 0), ("load", 400), ("train", 2400))]
        self.assertAlmostEqual(trainer_run.load_seconds(phases), 2.0)

    def test_a_save_that_blocks_is_seen_in_both_figures(self):
        records = steady(60)
        for record in records[21:]:
            record["time_ms"] += 10
        records.append({"type": "checkpoint", "step": 20, "blocking_seconds": 0.01,
                        "total_seconds": 3.0})
        records.append({"type": "checkpoint", "step": 0, "deleted": True})
        records.append({"type": "restore", "seconds": 2.5, "bytes": 10**10})
        stall = rows.stall_figures(records, 20)
        self.assertAlmostEqual(stall["blocking"][0], 10)
        self.assertAlmostEqual(stall["slowdown"][0], 10)
        # The trainer reports the end of step 20 before it queues step 21.
        records[20]["time_ms"] -= 40
        self.assertAlmostEqual(rows.stall_figures(records, 20)["slowdown"][0], 10)
        self.assertEqual(len(stall["blocking"]), 1)
        self.assertEqual(stall["update_wait"], 0)

    def test_the_longest_wait_of_an_update_is_one_behind_a_save(self):
        records = [{"type": "rank", "step": step, "checkpoint_wait_seconds": seconds}
                   for step, seconds in ((20, 9.0), (21, 0.02), (41, 0.03), (50, 7.0))]
        records.append({"type": "rank", "step": 61})
        self.assertEqual(rows.longest_wait(records, 20), 0.03)

    def test_the_median_of_several_saves_counts(self):
        row = rows.ROWS["stall"]
        self.assertGreaterEqual(row.plan.saves, 5)
        result = rows.Result(row, ours={
            "tokens_per_second": 1.0, "stall": {
                "slowdown": [40.0, 3.0, 2.0], "blocking": [1.4, 0.2, 0.3], "update_wait": 0.1,
                "write_seconds": [3.0], "late": 0, "restore": {"bytes": 10**10, "seconds": 0.5}}})
        self.assertEqual(rows.value_of(None, result), 3.0)
        self.assertIn("(median 0.30, at most 1)", rows.stall_note(result.ours["stall"]))

    def test_a_start_from_a_checkpoint_counts_to_the_first_step(self):
        resumed = {"first_step_seconds": 4.5, "bytes": 10**10, "seconds": 0.5,
                   "start": {"libraries": 1.0, "load": 0.5, "train": 3.0}}
        result = rows.Result(rows.ROWS["start-1.5b"],
                             ours={"tokens_per_second": 1.0, "resumed": resumed})
        self.assertEqual(rows.value_of(None, result), 4.5)
        self.assertEqual(rows.resumed_note(resumed),
                         "with a checkpoint of 10.0 GB in the page cache, read in 0.5 s (20.0 "
                         "GB/s): start, s: libraries 1.0, load 0.5, train 3.0")


class Settings(unittest.TestCase):
    def test_a_step_has_the_samples_of_all_micro_batches_and_ranks(self):
        plan = RunPlan("a", MODELS["llama-1.5b"], micro_batch=4, accumulation=2, ranks=2)
        spec = trainer_run.settings_of(plan, "/data")
        self.assertEqual(spec["train"]["global_batch"], 16)
        self.assertEqual(spec["layout"], {"dp": 2, "micro_batch": 4})
        self.assertEqual(spec["model"]["vocab_size"], 128256)
        self.assertEqual(json.loads(json.dumps(spec)), spec)

    def test_types_of_the_moments_are_told(self):
        self.assertIn("moments fp32", rows.ROWS["1.5b"].plan.state_types)
        self.assertIn("moments bf16", rows.ROWS["8b"].plan.state_types)
        spec = trainer_run.settings_of(rows.ROWS["8b"].plan, "/data")
        self.assertEqual(spec["optimizer"]["exp_avg_dtype"], "bf16")
        self.assertEqual(rows.ROWS["8b"].plan.tokens_per_step, 65536)

    def test_token_files_are_as_wide_as_the_vocabulary_needs(self):
        for vocabulary, kind, code in ((65536, "uint16", "H"), (128256, "uint32", "I")):
            with tempfile.TemporaryDirectory() as folder:
                directory = pathlib.Path(folder)
                trainer_run.write_token_file(directory, "train", vocabulary, [0, vocabulary - 1])
                header = json.loads((directory / "train.json").read_text())
                stored = array.array(code)
                stored.frombytes((directory / "train.bin").read_bytes())
                self.assertEqual(header["dtype"], kind)
                self.assertEqual(stored.tolist(), [0, vocabulary - 1])


class Verdicts(unittest.TestCase):
    def test_bounds(self):
        target = Target("x", 1.0, 1.1)
        self.assertEqual([target.verdict(value) for value in (0.99, 1.0, 1.1, None)],
                         ["MISSED", "must", "aim", "not measured"])
        stall = Target("%", 1.0, 0.3, lower_is_better=True)
        self.assertEqual([stall.verdict(value) for value in (1.1, 1.0, 0.3)],
                         ["MISSED", "must", "aim"])

    def test_the_fastest_peer_counts_and_one_without_memory_does_not(self):
        result = rows.Result(rows.ROWS["1.5b"])
        result.peers = [{"variant": "a", "tokens_per_second": 10}, {"variant": "b", "oom": True},
                        {"variant": "c", "tokens_per_second": 20}]
        self.assertEqual(result.best_peer["variant"], "c")
        result.ours = rows.ours_of(result.row.plan, steady(24))
        self.assertEqual(rows.value_of(None, result), result.ours["tokens_per_second"] / 20)

    def test_tables_show_what_was_not_measured(self):
        result = rows.Result(rows.ROWS["1.5b"], note="not measured: rank 0 ended with 78")
        result.peers = [{"variant": "b", "oom": True}]
        entries = [report.entry_of(result)]
        text = report.as_markdown(entries, {"date": "today", "gpus": ""})
        self.assertIn("out of memory", text)
        self.assertIn("rank 0 ended with 78", text)
        table = json.loads(report.as_json(entries, {}))
        self.assertEqual(table["rows"][0]["verdict"], "not measured")


class Mixtures(unittest.TestCase):
    MACHINE = {"date": "today", "gpus": "NVIDIA H200"}

    def result(self, name, value):
        row = rows.ROWS[name]
        return rows.Result(row, ours=rows.ours_of(row.plan, steady(row.plan.warmup_steps + 20)),
                           value=value)

    def test_forced_balance_is_a_setting_of_the_model(self):
        for name in ("m8-mbs8", "d64-mbs16-bf16", "m8-ep2-x2", "plan-d64-m4"):
            spec = trainer_run.settings_of(rows.ROWS[name].plan, "/data")
            self.assertTrue(spec["model"]["moe_router_force_load_balancing"], name)
        for name in ("m8-real-mbs8", "m8-text", "d64-real-ep2-x2"):
            spec = trainer_run.settings_of(rows.ROWS[name].plan, "/data")
            self.assertNotIn("moe_router_force_load_balancing", spec["model"], name)
        self.assertEqual(trainer_run.settings_of(rows.ROWS["m8-text"].plan, "")["model"]
                         ["moe_aux_loss_coeff"], 0.01)

    def test_rows_of_experts_divide_them_over_all_gpus(self):
        spec = trainer_run.settings_of(rows.ROWS["d64-ep4-x4"].plan, "/data")
        self.assertEqual((spec["layout"]["ep"], spec["layout"]["dp"]), (4, 4))
        self.assertEqual(rows.alone(rows.ROWS["d64-ep4-x4"].plan).layout, {})

    def test_peers_have_the_routing_and_the_weights_of_their_row(self):
        for name in ("m8-mbs8", "m8-real-mbs16-bf16", "d64-mbs16", "d64-real-mbs8-bf16"):
            row = rows.ROWS[name]
            for variant in row.peers:
                self.assertIn("routing=" + ("real" if "-real-" in name else "forced"), variant)
                self.assertIn("weights=" + ("bf16" if "bf16" in name else "fp32"), variant)
        self.assertIn("attention=flash", " ".join(rows.ROWS["d64-mbs8"].peers))
        command = rows.peer_command(rows.ROWS["d64-mbs8"], 20)
        self.assertEqual(pathlib.Path(command[1]).name, "moe_peer.py")

    def test_an_equal_run_is_not_repeated(self):
        one, other = rows.ROWS["m8-mbs8"], rows.ROWS["m8-mbs8-bf16"]
        self.assertEqual(dataclasses.replace(one.plan, name=""),
                         dataclasses.replace(other.plan, name=""))
        key = repr(dataclasses.replace(one.plan, name=""))
        measured = rows.ours_of(one.plan, steady(24))
        result = rows.Result(other)
        rows.measure_ours(type("Bench", (), {"measured": {key: measured}}), result)
        self.assertIs(result.ours, measured)

    def test_text_is_compared_with_forced_balance_of_the_same_model(self):
        row = rows.ROWS["d64-text"]
        plan = rows.forced(row.plan)
        self.assertEqual((row.plan.warmup_steps, plan.warmup_steps), (200, 4))
        self.assertTrue(plan.shape.family["moe_router_force_load_balancing"])
        key = repr(dataclasses.replace(plan, name=""))
        result = self.result("d64-text", None)
        half = {"tokens_per_second": 2 * result.ours["tokens_per_second"]}
        options = type("Bench", (), {"measured": {key: half}})
        self.assertAlmostEqual(rows.value_of(options, result), 0.5)

    def test_a_text_has_room_in_the_vocabulary(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder)
            trainer_run.write_token_file(text, "train", 50257, [0, 1])
            options = type("Bench", (), {"text": text})
            found = [rows.Bench.text_shape(options, MODELS[name]).vocabulary
                     for name in ("m8", "d64")]
        self.assertEqual(found, [50304, 102400])

    def test_balance_is_the_mean_over_the_timed_steps(self):
        records = [{"type": "experts", "step": step, "first_layer": 1, "balance": balance}
                   for step, balance in ((4, [9, 9]), (5, [1.0, 2.0]), (6, [1.5, 2.5]))]
        balance = trainer_run.expert_balance(records, 4)
        self.assertEqual(balance, {1: 1.25, 2: 2.25})
        self.assertIn("layer 1 1.25, layer 2 2.25", rows.balance_note(balance))

    def test_a_row_without_its_gpus_has_its_twin_beside_it(self):
        twin = self.result("m8-ep2-x2", 0.951)
        missing = rows.unmeasured(rows.ROWS["m8-ep4-x4"], 2)
        entries = [report.entry_of(result) for result in (twin, missing)]
        text = report.as_markdown(entries, self.MACHINE)
        self.assertIn("not measured; m8-ep2-x2: 0.951 x, must", text)
        self.assertIn("needs 4 GPUs, this machine has 2", text)

    def test_only_a_row_without_its_gpus_may_be_unmeasured(self):
        missed, reached = (self.result("m8-mbs8", value) for value in (1.0, 1.2))
        crashed = rows.Result(rows.ROWS["m8-rate"], note="not measured: rank 0 ended with 78")
        alone_crashed, no_peer = (self.result(name, None) for name in ("m8-ep2-x2", "m8-mbs8"))
        without_peers = self.result("m8-mbs8", None)
        without_peers.compared = "none"
        for result, failed in ((missed, True), (reached, False), (crashed, True),
                               (alone_crashed, True), (no_peer, True), (without_peers, False),
                               (rows.unmeasured(rows.ROWS["m8-ep4-x4"], 1), False)):
            entry = report.entry_of(result)
            self.assertEqual(report.has_failed(entry), failed, entry)
        entries = list(map(report.entry_of, (crashed, self.result("m8-ep2-x2", 0.95))))
        entries[0]["twin"] = "m8-ep2-x2"
        self.assertEqual(report.reached(entries[0], entries), "FAILED")

    def test_a_joined_table_with_a_failed_row_has_failed(self):
        missing = rows.unmeasured(rows.ROWS["m8-rate"], 0)
        crashed = rows.Result(rows.ROWS["m8-rate"], note="not measured: rank 0 ended with 78")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for part, result in (("one", missing), ("two", crashed),
                                 ("three", self.result("m8-rate", 94_000))):
                (folder / part).mkdir()
                bench.write_tables(folder / part, [report.entry_of(result)], self.MACHINE)
            with contextlib.redirect_stdout(io.StringIO()):
                for parts, passed in (("one", True), ("one two", False), ("two one", False),
                                      ("one two three", True)):
                    folders = [folder / part for part in parts.split()]
                    self.assertEqual(bench.join(folders, folder), passed, parts)

    def test_verdicts_of_one_of_several_peers_are_marked(self):
        result = self.result("m8-mbs8", 1.2)
        result.compared = "first"
        entry = report.entry_of(result)
        self.assertEqual(report.reached(entry, [entry]), "must (first peer only)")
        options = type("Bench", (), {"peers": "first"})
        self.assertEqual([rows.compared_peers(options, rows.ROWS[name])
                          for name in ("m8-mbs8", "m8-real-mbs8", "m8-rate")],
                         ["first", "all", "all"])

    def test_real_routing_has_the_learning_rate_of_its_peer(self):
        for name, kind in (("m8-real-mbs8", "constant"), ("m8-mbs8", "cosine")):
            spec = trainer_run.settings_of(rows.ROWS[name].plan, "/data")
            self.assertEqual(spec["schedule"]["kind"], kind)
            self.assertEqual(spec["schedule"].get("warmup_steps", 0), 10 if kind == "cosine" else 0)

    def test_tables_join_to_one(self):
        missing = report.entry_of(rows.unmeasured(rows.ROWS["m8-ep4-x4"], 2))
        one = {"machine": {"date": "d1", "gpus": "g1"},
               "rows": [report.entry_of(self.result("m8-ep2-x2", 0.95)), missing]}
        two = {"machine": {"date": "d2", "gpus": "g2"},
               "rows": [report.entry_of(self.result("m8-ep4-x4", 0.99))]}
        for tables in ([one, two], [two, one]):
            entries, machine = report.joined(json.loads(json.dumps(tables)))
            self.assertEqual({entry["row"]: entry["verdict"] for entry in entries},
                             {"m8-ep2-x2": "must", "m8-ep4-x4": "aim"})
            self.assertEqual(set(machine["gpus"].split("; ")), {"g1", "g2"})

    def test_predictions_have_errors_and_their_mean(self):
        result = self.result("m8-rate", 94_000)
        result.predicted = {"ms": 110.0, "memory_gb": 4.9}
        entry = report.entry_of(result)
        self.assertAlmostEqual(predictions.error_of(entry, "ms"), 0.1)
        self.assertAlmostEqual(predictions.mean_error([entry, {"ours": None}], "memory_gb"), 0.02)
        text = report.as_markdown([entry], self.MACHINE)
        self.assertIn("+10.0 %", text)
        self.assertIn("below aim", text)
        self.assertEqual(predictions.device_of("NVIDIA H200"), "H200")

    def test_a_program_must_be_an_executable_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trainyard"
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "does not exist"):
                bench.executable(str(path))
            path.write_text("#!/bin/sh\n")
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "is not executable"):
                bench.executable(str(path))
            path.chmod(0o700)
            self.assertEqual(bench.executable(str(path)), path.resolve())

    def test_a_planner_that_cannot_start_is_the_problem_of_its_row(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = predictions.predicted(pathlib.Path(folder) / "none", "spec.json", 1, "H200")
        self.assertIn("No such file", plan["problem"])
        result = self.result("m8-rate", 94_000)
        result.predicted = plan
        self.assertIn("No such file", report.as_markdown([report.entry_of(result)], self.MACHINE))

    def test_rows_are_named_by_patterns_too(self):
        names = bench.named_rows("m8-ep*,m8-ep2-x2,1.5b", rows.ROWS)
        self.assertEqual(names, ["m8-ep2-x2", "m8-ep4-x4", "1.5b"])
        with self.assertRaises(ValueError):
            bench.named_rows("m9-*", rows.ROWS)

    def test_mixtures_are_measured_only_if_named(self):
        self.assertFalse(rows.MIXTURES & set(rows.DEFAULT_ROWS))
        self.assertEqual(len(mixture_rows.MIXTURE_ROWS), len(rows.MIXTURES))


class Determinism(unittest.TestCase):
    def test_the_last_bit_counts(self):
        one = determinism.curve(steady(50))
        other = dict(one)
        self.assertIsNone(determinism.first_difference(one, other, 1, 50))
        other[31] = (1.0 + 2.0**-52, 0.5)
        self.assertEqual(determinism.first_difference(one, other, 1, 50), 31)
        self.assertIn("FAIL", determinism.compare("a", one, other, 1, 50).line())
        self.assertIn("PASS", determinism.compare("a", one, other, 1, 30).line())

    def test_a_step_that_is_missing_differs(self):
        one = determinism.curve(steady(50))
        shorter = determinism.curve(steady(49))
        self.assertEqual(determinism.first_difference(one, shorter, 1, 50), 50)
        self.assertEqual(determinism.first_difference({}, {}, 1, 50), 1)

    def test_a_run_is_killed_only_once_its_checkpoint_is_published(self):
        records = steady(40)
        self.assertFalse(determinism.is_time_to_kill(records))
        records.append({"type": "checkpoint", "step": 20, "path": "/c/step_000000020"})
        self.assertTrue(determinism.is_time_to_kill(records))

    def test_smaller_batches_keep_the_model(self):
        for name in determinism.BATCHES:
            self.assertEqual(dataclasses.replace(determinism.PLANS[name], micro_batch=1,
                                                 accumulation=1),
                             dataclasses.replace(rows.ROWS[name].plan, micro_batch=1,
                                                 accumulation=1))
        self.assertEqual(dataclasses.replace(determinism.PLANS["162m-dp2"], name="162m", ranks=1),
                         determinism.PLANS["162m"])


if __name__ == "__main__":
    unittest.main()
