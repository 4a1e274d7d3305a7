"""Rows of dense models: models, layouts and targets."""
import dataclasses

from bench_row import Target, make_row

# The peer with bf16 weights has no fp32 master weights: it trains worse than ours but is faster.
WHOLE = ("weights=fp32", "weights=bf16")
BF16_MOMENTS = {"exp_avg_dtype": "bf16", "exp_avg_sq_dtype": "bf16"}

# (name, micro-batch, layout, target). Each step has 16 samples per GPU. In the rows of context
# parallelism with micro-batches of 32, a rank has as many tokens of a micro-batch as one GPU alone.
LAYOUTS_OF_TWO = (
    ("zero2", 16, {"zero": 2}, None), ("zero3", 16, {"zero": 3}, None),
    ("tp2", 16, {"tp": 2}, Target("x", 0.90, 0.95)),
    ("cp2", 16, {"cp": 2, "micro_batch": 32}, Target("x", 0.92, 0.96)),
    ("cp2-zero1", 16, {"cp": 2, "micro_batch": 32, "zero": 1}, Target("x", 0.92, 0.96)),
    ("cp2-m16", 16, {"cp": 2}, None),
    ("cp2-ring", 16, {"cp": 2, "micro_batch": 32, "cp_comm_type": "p2p"}, None),
    ("cp2-gather", 16, {"cp": 2, "cp_comm_type": "all_gather"}, None),
    ("pp2", 4, {"pp": 2}, None), ("pp2-vpp3", 4, {"pp": 2, "vpp": 3}, None),
    ("pp2-zero-bubble", 4, {"pp": 2, "zero_bubble": True}, None))
# Layouts on four GPUs: (name, layout, target, row for two GPUs).
LAYOUTS_OF_FOUR = (
    ("dp4-zero1", {"zero": 1}, Target("x", 0.985, 0.99), "dp2-zero1"),
    ("dp4-zero2", {"zero": 2}, Target("x", 0.98, 0.99), "zero2"),
    ("dp4-zero3", {"zero": 3}, Target("x", 0.975, 0.99), "zero3"),
    ("tp4", {"tp": 4}, Target("x", 0.82, 0.90), "tp2"))

FP8_PEERS = ("weights=fp32,products=fp8", "weights=bf16,products=fp8")
# FP8 against our own run in bf16: (name, model, target, more).
FP8_GAINS = (("1.5b", "llama-1.5b", Target("x", 1.25), {"micro_batch": 16}),
             ("8b", "llama3-8b", None,
              {"micro_batch": 1, "accumulation": 8, "optimizer": BF16_MOMENTS}))
# Recipes for one node, with their micro-batch.
LADDER = (("llama2-1.36b", 6), ("qwen3-1.8b", 6), ("llama3-2.2b", 4))

# llama3-8b with four samples per step and GPU: (name, layout, GPUs).
EIGHT_BILLION = (
    ("8b-zero3-x2", {"zero": 3}, 2),
    ("8b-zero3-x4", {"zero": 3}, 4),
    ("8b-tp2-x2", {"tp": 2}, 2),
    ("8b-pp2-x2", {"pp": 2}, 2),
    ("8b-cp2-zero3-x2", {"cp": 2, "zero": 3}, 2),
    ("8b-tp2-zero1-x4", {"tp": 2, "zero": 1}, 4),
    ("8b-pp2-zero1-x4", {"pp": 2, "zero": 1}, 4),
    ("8b-cp2-zero3-x4", {"cp": 2, "zero": 3}, 4))

# Settings on which the planner's predictions are tested
# (tests/controller/planner/measured_runs.h): (name, model, micro-batch, accumulation, more).
PLANNED = (
    ("plan-1.5b-m2", "llama-1.5b", 2, 8, {}),
    ("plan-1.5b-m4", "llama-1.5b", 4, 4, {}),
    ("plan-1.5b-full", "llama-1.5b", 16, 1, {"layout": {"recompute": "full"}}),
    ("plan-1.5b-selective", "llama-1.5b", 16, 1, {"layout": {"recompute": "selective"}}),
    ("plan-1.5b-s4096", "llama-1.5b", 8, 1, {"length": 4096}),
    ("plan-1.5b-s8192", "llama-1.5b", 4, 1, {"length": 8192}),
    ("plan-1.5b-s32768-full", "llama-1.5b", 1, 1,
     {"length": 32768, "layout": {"recompute": "full"}}),
    ("plan-3b", "llama3-3b", 4, 2, {}),
    ("plan-7b", "llama2-7b", 1, 8, {"optimizer": BF16_MOMENTS}),
    ("plan-gpt2-350m", "gpt2-350m", 32, 1, {}),
    ("plan-gpt2-1.5b", "gpt2-1.5b", 16, 1, {}),
    ("plan-1.5b-s16384", "llama-1.5b", 2, 1, {"length": 16384}),
    ("plan-3b-s8192", "llama3-3b", 2, 2, {"length": 8192}),
    ("plan-7b-s8192-full", "llama2-7b", 1, 4,
     {"length": 8192, "layout": {"recompute": "full"}, "optimizer": BF16_MOMENTS}),
    ("plan-gpt2-760m", "gpt2-760m", 16, 1, {}),
    ("plan-1.5b-zero1-x4", "llama-1.5b", 16, 1, {"ranks": 4, "layout": {"zero": 1}}),
    ("plan-1.5b-zero3-x4", "llama-1.5b", 16, 1, {"ranks": 4, "layout": {"zero": 3}}),
    ("plan-1.5b-m4-zero1-x4", "llama-1.5b", 4, 4, {"ranks": 4, "layout": {"zero": 1}}),
    ("plan-1.5b-tp2-zero1-x4", "llama-1.5b", 16, 1,
     {"ranks": 4, "layout": {"tp": 2, "zero": 1}}),
    ("plan-1.5b-cp2-zero1-x4", "llama-1.5b", 16, 1,
     {"ranks": 4, "layout": {"cp": 2, "zero": 1}}),
    ("plan-1.5b-pp2-zero1-x4", "llama-1.5b", 4, 4,
     {"ranks": 4, "layout": {"pp": 2, "zero": 1}}),
    ("plan-1.5b-tp4-x4", "llama-1.5b", 16, 1, {"ranks": 4, "layout": {"tp": 4}}))

# Starts from a checkpoint: (name, model, GPUs, limit in s to the end of the first step, more).
STARTS = (
    ("1.5b", "llama-1.5b", 1, 5, {"micro_batch": 16}),
    ("1.5b-x4", "llama-1.5b", 4, 8, {"micro_batch": 16, "layout": {"zero": 1}}),
    ("8b", "llama3-8b", 1, None, {"micro_batch": 1, "accumulation": 8, "optimizer": BF16_MOMENTS}),
    ("8b-x4", "llama3-8b", 4, 15, {"micro_batch": 1, "accumulation": 4, "layout": {"zero": 1}}))

DENSE_ROWS = (
    make_row("1.5b", "llama-1.5b", "ratio", Target("x", 1.08, 1.15),
             (*WHOLE, "weights=fp32,scope=block"), micro_batch=16),
    make_row("1.5b-mbs24", "llama-1.5b", "ratio", Target("x", 1.06), WHOLE, micro_batch=24),
    # The second peer uses the data types of our training state.
    make_row("8b", "llama3-8b", "tokens", Target("tokens/s", 11_100, 12_000),
             ("weights=bf16,micro_batch=2,accumulation=4", "weights=fp32,moments=bf16"),
             micro_batch=1, accumulation=8, optimizer=BF16_MOMENTS),
    make_row("1.5b-fp8", "llama-1.5b", "ratio", Target("x", 1.10), FP8_PEERS, micro_batch=16,
             fp8="delayed"),
    make_row("1.5b-fp8-current", "llama-1.5b", "ratio", None, FP8_PEERS, micro_batch=16,
             fp8="current"),
    *(make_row(f"{name}-fp8-gain", model, "bf16", target, fp8="delayed", **more)
      for name, model, target, more in FP8_GAINS),
    *(make_row(name, name, "ratio", Target("x", 1.06, 1.12), WHOLE, micro_batch=size,
               accumulation=2) for name, size in LADDER),
    make_row("162m", "gpt-162m", "ratio", Target("x", 1.12, 1.25),
             (*WHOLE, "weights=fp32,scope=block"), micro_batch=32),
    make_row("gpt2-124m", "gpt2-124m", "ratio", Target("x", 1.15, 1.25), ("default",),
             "nanogpt_peer.py", micro_batch=32),
    *(make_row(name, name, "tokens", None, micro_batch=16)
      for name in ("qwen3-0.6b", "olmo-1b", "neox-1.4b")),
    make_row("dp2", "llama-1.5b", "scaling", Target("x", 0.97, 0.99), micro_batch=16, ranks=2),
    make_row("dp2-zero1", "llama-1.5b", "scaling", Target("x", 0.98, 0.99), micro_batch=16, ranks=2,
             layout={"zero": 1}),
    *(make_row(name, "llama-1.5b", "scaling", target, micro_batch=size,
               accumulation=16 // size, ranks=2, layout=layout)
      for name, size, layout, target in LAYOUTS_OF_TWO),
    *(dataclasses.replace(make_row(name, "llama-1.5b", "scaling", target, micro_batch=16, ranks=4,
                                   layout=layout), twin=twin)
      for name, layout, target, twin in LAYOUTS_OF_FOUR),
    # Compared with FSDP2, which shards like ZeRO 3. Here memory suffices for ZeRO 1.
    *(make_row(f"8b-zero1-x{ranks}", "llama3-8b", "ratio", Target("x", 1.08), ("FSDP2",),
           micro_batch=1, accumulation=4, ranks=ranks, layout={"zero": 1}) for ranks in (2, 4)),
    *(make_row(name, "llama3-8b", "tokens", None, micro_batch=1, accumulation=4, ranks=ranks,
           layout=layout) for name, layout, ranks in EIGHT_BILLION),
    # 13,500 tokens/s per GPU.
    make_row("8b-fp8-zero1-x4", "llama3-8b", "tokens", Target("tokens/s", 54_000, 59_200),
             micro_batch=1, accumulation=4, ranks=4, layout={"zero": 1}, fp8="delayed"),
    make_row("8b-32k-cp4-zero3-x4", "llama3-8b", "tokens", None, length=32_768, micro_batch=1,
             ranks=4, layout={"cp": 4, "zero": 3}),
    make_row("8b-128k-cp4-zero3-x4", "llama3-8b", "tokens", None, length=131_072, micro_batch=1,
             ranks=4, layout={"cp": 4, "zero": 3, "recompute": "full"}),
    *(make_row(name, model, "reshard", Target("x", 1.05, lower_is_better=True), micro_batch=1,
           accumulation=2, ranks=ranks, layout=layout, restore_layout={"zero": 3}, save_every=12)
      for name, model, ranks, layout in (
          ("reshard-tp2-zero3", "llama-1.5b", 2, {"tp": 2}),
          ("8b-reshard-tp2-zero3", "llama3-8b", 2, {"tp": 2}),
          ("8b-reshard-tp4-zero3", "llama3-8b", 4, {"tp": 4}))),
    # The interval must exceed the time that a disk takes to write a checkpoint: 19 s at 1 GB/s.
    make_row("stall", "llama-1.5b", "stall", Target("% of a step", 5.0, 1.0, lower_is_better=True),
             micro_batch=8, accumulation=2, save_every=60, saves=5),
    *(make_row(f"start-{name}", model, "start", Target("s", seconds, lower_is_better=True),
               ranks=ranks, save_every=12, **more) for name, model, ranks, seconds, more in STARTS),
    *(make_row(name, model, "tokens", None, micro_batch=micro_batch, accumulation=rounds, **more)
      for name, model, micro_batch, rounds, more in PLANNED),
    make_row("tiny-cpu", "llama-tiny", "tokens", None, micro_batch=8, device="cpu",
             precision="fp32"),)
