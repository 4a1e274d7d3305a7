"""Rows of mixtures of experts and latent attention: m8 (Mixtral's form) and d64 (DeepSeek-V3's)."""
import dataclasses

from bench_row import Target, make_row

FORCED = {"moe_router_force_load_balancing": True}
# Steps on text before the balance of the routing is that of a real run.
TEXT_STEPS = 200
MODELS_OF_EXPERTS = ("m8", "d64")
# Ratios to PyTorch with the same type of weights. Weights in bf16 have no fp32 master weights.
RATIOS = {("m8", "fp32"): Target("x", 1.12), ("m8", "bf16"): Target("x", 1.00),
          ("d64", "fp32"): Target("x", 1.15, 1.20), ("d64", "bf16"): None}
RATES = {"m8": Target("tokens/s", None, 95_000), "d64": Target("tokens/s", 75_000, 90_000)}
# Ratio of the tokens/s of N GPUs to N times the tokens/s of one GPU.
SCALINGS = {"m8": Target("x", 0.93, 0.98), "d64": Target("x", 0.90, 0.95)}
REAL_TO_FORCED = Target("x", 0.93, 0.96)
BALANCE = {"m8": {"moe_aux_loss_coeff": 0.01}, "d64": {}}  # d64 has a bias.
SCALED_BATCH = {"m8": 16, "d64": 8}


def with_forced_balance(shape):
    """Returns the shape with a router that gives each expert the same number of rows."""
    return dataclasses.replace(shape, family={**shape.family, **FORCED})


def peers_of(model, size, routing, weights):
    """Variants of moe_peer.py for a row, the usually fastest first."""
    usual = f"weights={weights},routing={routing}"
    if model == "d64":
        usual += ",attention=cudnn"
    if routing == "real":
        return (usual,)
    variants = [usual, usual + ",clipping=fused"]
    if size == 8:
        variants.append(usual + ",storage=columns")
    if model == "d64":
        variants.append(usual.replace("cudnn", "flash") if size == 8 else usual + ",head=chunked")
    return tuple(variants)


def ratio_row(model, size, routing, weights):
    name = "-".join([model, *(["real"] if routing == "real" else []), f"mbs{size}",
                     *(["bf16"] if weights == "bf16" else [])])
    return make_row(name, model, "ratio", RATIOS[model, weights],
                    peers_of(model, size, routing, weights), "moe_peer.py",
                    family=FORCED if routing == "forced" else {}, micro_batch=size,
                    # The balance of a router depends on how far its weights have moved.
                    constant_rate=routing == "real")


def scaling_row(model, gpus, routing):
    twin = f"{model}{'-real' if routing == 'real' else ''}-ep2-x2"
    name = twin.replace("ep2-x2", f"ep{gpus}-x{gpus}")
    row = make_row(name, model, "scaling", SCALINGS[model] if routing == "forced" else None,
                   family=FORCED if routing == "forced" else {}, micro_batch=SCALED_BATCH[model],
                   ranks=gpus, layout={"ep": gpus, "etp": 1, "zero": 1})
    return row if gpus == 2 else dataclasses.replace(row, twin=twin)


def text_row(model):
    return make_row(f"{model}-text", model, "forced", REAL_TO_FORCED, family=BALANCE[model],
                    micro_batch=8, text=True, warmup_steps=TEXT_STEPS)


# Additional settings for testing the planner's predictions: (name, model, micro-batch,
# accumulation, more).
PLANNED = (
    ("plan-m8-m4", "m8", 4, 2, {}),
    ("plan-m8-selective", "m8", 16, 1, {"layout": {"recompute": "selective"}}),
    ("plan-m8-full", "m8", 16, 1, {"layout": {"recompute": "full"}}),
    ("plan-m8-s8192", "m8", 2, 1, {"length": 8192}),
    ("plan-d64-m4", "d64", 4, 2, {}),
    ("plan-d64-selective", "d64", 8, 1, {"layout": {"recompute": "selective"}}),
    ("plan-d64-s8192", "d64", 4, 1, {"length": 8192}),
    ("plan-m8-ep2-m4-x2", "m8", 4, 4, {"ranks": 2, "layout": {"ep": 2, "etp": 1, "zero": 1}}),
    ("plan-d64-ep2-zero3-x2", "d64", 8, 1,
     {"ranks": 2, "layout": {"ep": 2, "etp": 1, "zero": 3}}),
    ("plan-d64-ep2-zero1-x4", "d64", 8, 1,
     {"ranks": 4, "layout": {"ep": 2, "etp": 1, "zero": 1}}))

MIXTURE_ROWS = (
    *(ratio_row(model, size, routing, weights) for model in MODELS_OF_EXPERTS
      for routing in ("forced", "real") for size in (8, 16) for weights in ("fp32", "bf16")),
    *(make_row(f"{model}-rate", model, "tokens", RATES[model], family=FORCED, micro_batch=16)
      for model in MODELS_OF_EXPERTS),
    *(text_row(model) for model in MODELS_OF_EXPERTS),
    *(scaling_row(model, gpus, routing) for gpus in (2, 4) for routing in ("forced", "real")
      for model in MODELS_OF_EXPERTS),
    *(make_row(name, model, "tokens", None, family=FORCED, micro_batch=size, accumulation=rounds,
               **more) for name, model, size, rounds, more in PLANNED))
