"""Rows of the trainer on CPU, against plain LibTorch modules of the same shape."""
import array
import json
import os
import random
import signal
import statistics
import subprocess
import time

from processes import PEER_PROGRESS_SECONDS, BenchError, Cluster, frozen, scratch, wait_for
from results import Row, promise

VOCABULARY = 2048


def write_tokens(directory):
    """Token files of noise: what is measured does not depend on what they say."""
    noise = random.Random(1)
    for split, count in (("train", 200_000), ("val", 20_000)):
        tokens = array.array("H", (noise.randrange(VOCABULARY) for _ in range(count)))
        (directory / f"{split}.bin").write_bytes(tokens.tobytes())
        (directory / f"{split}.json").write_text(json.dumps({
            "format": "trainyard-tokens", "version": 1, "dtype": "uint16", "tokens": count,
            "vocab_size": VOCABULARY, "documents": 1, "source_bytes": count,
            "unigram_entropy": 7.6, "end_of_document": 0, "xxh64": ""}))


def spec(directory, steps, checkpoint_every=0):
    """The shape of recipes/llama-tiny-cpu.yaml on one rank."""
    return {
        "name": "bench", "resources": {"device": "cpu"}, "layout": {"micro_batch": 8},
        "model": {"num_layers": 4, "hidden_size": 192, "ffn_hidden_size": 512,
                  "num_attention_heads": 6, "num_query_groups": 2, "vocab_size": VOCABULARY,
                  "untie_embeddings_and_output_weights": False},
        "data": {"path": str(directory)},
        "train": {"seq_length": 128, "global_batch": 16, "steps": steps, "precision": "fp32",
                  "threads": 1},
        "evaluation": {"every_steps": 0}, "checkpoint": {"every_steps": checkpoint_every}}


def run_trainer(bench, directory, steps, checkpoint_every=0):
    """Telemetry records of a run by itself."""
    run = directory / f"run-{time.monotonic_ns()}"
    run.mkdir()
    (run / "spec.json").write_text(json.dumps(spec(directory, steps, checkpoint_every)))
    environment = {"PATH": os.environ["PATH"], "TRAINYARD_TELEMETRY": str(run / "telemetry.jsonl"),
                   "TRAINYARD_RUN_DIR": str(run), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([bench.programs / "bin/trainyard-trainer", "--config", run / "spec.json"],
                          cwd=run, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"trainyard-trainer: {done.stderr}")
    lines = (run / "telemetry.jsonl").read_text().splitlines()
    return run, [json.loads(line) for line in lines]


def step_seconds(records):
    """Median without the first steps, which warm up."""
    seconds = [record["step_seconds"] for record in records if record["type"] == "metrics"]
    return statistics.median(seconds[len(seconds) // 4:])


def plain_step_seconds(bench, run, steps):
    done = subprocess.run([bench.programs / "bench/plain_llama", run / "spec.json", str(steps)],
                          env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"plain_llama: {done.stderr}")
    seconds = [float(line) for line in done.stdout.split()]
    return statistics.median(seconds[len(seconds) // 4:])


def trainer(bench):
    steps = 4 if bench.smoke else 12
    ours, plain = [], []
    with scratch(bench.data) as directory:
        write_tokens(directory)
        for _ in range(bench.repetitions):
            run, records = run_trainer(bench, directory, steps)
            ours.append(step_seconds(records))
            plain.append(plain_step_seconds(bench, run, steps))
        run, records = run_trainer(bench, directory, 2 * steps, max(1, steps // 3))
    tokens = 16 * 128
    stalls = [100 * record["blocking_seconds"] / step_seconds(records) for record in records
              if record["type"] == "checkpoint" and not record.get("deleted")]
    return [Row("trainer.tokens", "tokens/s", [tokens / seconds for seconds in ours],
                note="recipes/llama-tiny-cpu.yaml on one rank with one thread, fp32"),
            Row("trainer.plain", "tokens/s", [tokens / seconds for seconds in plain],
                note="reference: LibTorch modules of the same shape, AdamW and clipping too"),
            Row("trainer.ratio", "x", [theirs / mine for mine, theirs in zip(ours, plain)],
                ratio=True, note="trainer.tokens / trainer.plain, run by turns"),
            Row("trainer.checkpoint_stall", "% of a step", stalls, **promise("<=", 1),
                note="2 M parameters: time that a step waits for a checkpoint, of a step")]


def job_yaml(directory, steps):
    shape = spec(directory, steps, 20)
    shape["resources"] = {"device": "cpu", "nodes": 2, "slots_per_node": 1}
    # Restarts count as without progress until a checkpoint is published; the backoff stays at 1 s.
    shape["restart"] = {"max_restarts": 100, "backoff_max": "1s"}
    return json.dumps(shape)


def first_metrics(cluster, job, attempt):
    """When rank 0 of the attempt wrote its first step, in seconds; 0 when it has not."""
    for node in range(len(cluster.workers)):
        path = cluster.worker_dir(node) / f"runs/{job}/{attempt}/rank0/telemetry.jsonl"
        if not path.exists():
            continue
        for line in path.read_text().splitlines():
            if '"metrics"' in line and line.endswith("}"):
                return json.loads(line)["time_ms"] / 1e3
    return 0


def restart_once(cluster, job, attempt):
    wait_for(lambda: first_metrics(cluster, job, attempt), f"a step of attempt {attempt}", 60)
    pids = [cluster.rank_pid(node, job, attempt, rank) for node in range(2) for rank in range(2)]
    begin = time.time()
    os.kill(next(filter(None, pids)), signal.SIGKILL)
    again = wait_for(lambda: first_metrics(cluster, job, attempt + 1), "the next attempt", 60)
    return again - begin


def replace_node(bench, number):
    """Seconds from a machine's end to the next attempt's first step, and from the verdict to it."""
    with scratch(bench.data) as directory:
        write_tokens(directory)
        with Cluster(bench.programs, directory) as cluster:
            for _ in range(3):
                cluster.start_worker(1)
            job = cluster.submit(job_yaml(directory, 100_000))
            wait_for(lambda: first_metrics(cluster, job, 1), "the first step", 60)
            time.sleep(PEER_PROGRESS_SECONDS)
            busy = [node for node in range(3) if cluster.node_pids(node, job, 1)[1:]]
            spare = (set(range(3)) - set(busy)).pop()
            with frozen(cluster.node_pids(busy[number % 2], job, 1)) as begin:
                again = wait_for(lambda: first_metrics(cluster, job, 2), "the next attempt", 120)
                if not cluster.node_pids(spare, job, 2)[1:]:
                    raise BenchError("the spare node was not taken")
            return again - begin, again - cluster.event_time(job, "attempt_failed") / 1e3


def new_node(bench):
    if bench.smoke:
        return [Row("recover.new_node", "s", [], note="takes 30 s: not in the smoke run")]
    pairs = [replace_node(bench, number) for number in range(bench.repetitions)]
    return [Row("recover.new_node", "s", [pair[1] for pair in pairs], **promise("<=", 20),
                note="verdict on a machine that is gone to the first step with a spare one"),
            Row("recover.new_node_all", "s", [pair[0] for pair in pairs],
                note="the same from the machine's end: 8 s of it are the verdict's evidence")]


def recover(bench):
    with scratch(bench.data) as directory:
        write_tokens(directory)
        with Cluster(bench.programs, directory) as cluster:
            cluster.start_worker(1)
            cluster.start_worker(1)
            job = cluster.submit(job_yaml(directory, 100_000))
            samples = [restart_once(cluster, job, attempt + 1) for attempt in range(bench.repetitions)]
    return [Row("recover.first_step", "s", samples, **promise("<=", 5),
                note="kill -9 of a rank to the first step of the next attempt on the same nodes, "
                     "with the default backoff of 1 s"), *new_node(bench)]
