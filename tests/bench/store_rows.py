"""Rows measured without daemons: the disk, the stores, the pure core, search in logs."""
import json
import os
import subprocess
import time

from processes import BenchError, scratch
from results import Row, promise


def google_benchmark(bench, program, name, minimum_seconds=0.3, repetitions=None, variables=None):
    """Runs one benchmark of a program on the measured disk; returns its repetitions. `variables`
    are added to the environment."""
    with scratch(bench.data) as directory:
        report = directory / "report.json"
        done = subprocess.run(
            [bench.programs / "bench" / program, f"--benchmark_filter=^{name}(/|$)",
             f"--benchmark_repetitions={repetitions or bench.repetitions}", f"--benchmark_out={report}",
             f"--benchmark_min_time={0 if bench.smoke else minimum_seconds}"],
            cwd=directory, capture_output=True, text=True, check=False,
            env={**os.environ, **(variables or {})})
        if done.returncode != 0:
            raise BenchError(f"{program} {name}: {done.stderr}")
        # Google Benchmark leaves the file empty when the filter matches nothing.
        text = report.read_text() or '{"benchmarks": []}'
    runs = [run for run in json.loads(text)["benchmarks"] if run.get("run_type") != "aggregate"]
    if not runs:
        raise BenchError(f"{program} has no benchmark {name}")
    for run in runs:
        if run.get("error_occurred"):
            raise BenchError(f"{name}: {run['error_message']}")
    return runs


def rates(bench, program, name):
    """Items a second of each repetition."""
    return [run["items_per_second"] for run in google_benchmark(bench, program, name)]


def mebibytes(bench, program, name):
    """MiB a second of each repetition."""
    return [run["bytes_per_second"] / 2**20 for run in google_benchmark(bench, program, name)]


def milliseconds(bench, program, name, time_kind="real_time"):
    """Time of one iteration in ms; `time_kind` is real_time or cpu_time."""
    scale = {"ms": 1, "us": 1e-3, "ns": 1e-6, "s": 1e3}
    return [run[time_kind] * scale[run["time_unit"]]
            for run in google_benchmark(bench, program, name)]


def sync_milliseconds(path, writes, grow):
    """Median time of fdatasync in ms after writing 4 KiB, at the end of a growing file or over the
    same place."""
    block, times = b"x" * 4096, []
    with open(path, "wb", buffering=0) as file:
        file.write(block)
        os.fsync(file.fileno())
        for number in range(writes):
            os.pwrite(file.fileno(), block, 4096 * (number + 1) if grow else 0)
            begin = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(1e3 * (time.perf_counter() - begin))
    times.sort()
    return times[len(times) // 2]


def disk(bench):
    """Syncs of the disk, the lower bound of the time of a commit."""
    writes = 10 if bench.smoke else 200
    with scratch(bench.data) as directory:
        grow, same = ([sync_milliseconds(directory / name, writes, name == "grow")
                       for _ in range(bench.repetitions)] for name in ("grow", "same"))
    # For submit.per_sync in control_rows.py.
    bench.sync_ms = sorted(grow)[len(grow) // 2]
    return [Row("disk.sync_growing", "ms", grow, note="fdatasync of 4 KiB at the end of a file"),
            Row("disk.sync_in_place", "ms", same, note="fdatasync of 4 KiB over the same place")]


def core(bench):
    # Arguments as in core_benchmark.cpp: nodes/jobs.
    size = "100/50" if bench.smoke else "10000/6000"
    snapshot = "100/50" if bench.smoke else "2000/10000"
    placed = rates(bench, "core_benchmark", f"PlaceGangs/{size}/manual_time")
    idle = milliseconds(bench, "core_benchmark", f"IdleTick/{size}", "cpu_time")
    saved = milliseconds(bench, "core_benchmark", f"Snapshot/{snapshot}", "cpu_time")
    queue = "100/50" if bench.smoke else "5000/10000"
    scheduled = milliseconds(bench, "core_benchmark", f"SchedulePass/{queue}", "cpu_time")
    layouts = "64/64" if bench.smoke else "128/2048"
    searched = milliseconds(bench, "core_benchmark", f"SearchLayouts/{layouts}", "cpu_time")
    return [Row("core.placements", "gangs/s", placed, **promise(">=", 20_000),
                note="gangs of 1 to 32 slots onto 10,000 empty nodes of 8; Reconcile and Apply, "
                     "processor time like all of core"),
            Row("core.idle_tick", "ms", idle,
                note="Reconcile and CommandsDue, 10,000 nodes and 6,000 running gangs; due every 200 ms"),
            Row("core.schedule", "ms", scheduled, **promise("<=", 50),
                note="a pass over 10,000 pending jobs on 5,000 nodes, and every job's reason"),
            Row("core.snapshot", "ms", saved,
                note="the state of 2,000 nodes and 10,000 jobs as bytes"),
            Row("core.layout_search", "ms", searched, **promise("<=", 1000),
                note="every layout of a 405B model on 1,024 GPUs, predicted and compared")
            ] + array_rows(bench)


def array_rows(bench):
    """Rows of an array of 1,000,000 elements."""
    # Arguments as in array_benchmark.cpp: nodes.
    size = 100 if bench.smoke else 10_000
    passes = google_benchmark(bench, "core_benchmark", f"ArrayPass/{size}")
    asked = milliseconds(bench, "core_benchmark", f"WhyArray/{size}", "cpu_time")
    # 864 is the order by validation loss.
    pages = milliseconds(bench, "core_benchmark", "ArrayPage/100/864", "cpu_time")
    archived = google_benchmark(bench, "core_benchmark", "ArchiveArray/100")
    return [Row("core.array_pass", "ms", [run["cpu_time"] for run in passes],
                **promise("<=", 100),
                note="Reconcile with 1,000,000 elements of an array, of which 5,000 run"),
            Row("core.array_why", "ms", asked, **promise("<=", 10),
                note="the answer to `why` for this array"),
            Row("core.array_memory", "MiB", [run["MiB"] for run in passes],
                **promise("<=", 1024), note="resident memory of the program with this state"),
            Row("core.array_page", "ms", pages, **promise("<=", 100),
                note="1,000 of 1,000,000 ended elements by validation loss"),
            Row("core.array_archive", "MB", [run["bytes"] / 1e6 for run in archived],
                note="the record of an array of 1,000,000 ended elements in the archive")]


def store(bench):
    # Arguments as in store_benchmark.cpp: jobs/steps, buckets, bytes.
    batch = "64/10" if bench.smoke else "1/1000"
    thin = "100" if bench.smoke else "2000"
    piece = "4096" if bench.smoke else "1048576"
    single = rates(bench, "store_benchmark", "StoreFixture/DurableEvents/1")
    batched = rates(bench, "store_benchmark", "StoreFixture/DurableEvents/64")
    points = rates(bench, "store_benchmark", f"MetricFixture/DurableMetricPoints/{batch}")
    spread = rates(bench, "store_benchmark", "MetricFixture/DurableMetricPoints/64/10")
    thinned = milliseconds(bench, "store_benchmark", f"StoreFixture/ThinMillionPoints/{thin}")
    logs = mebibytes(bench, "store_benchmark", f"StoreFixture/DurableLogBytes/{piece}")
    return [Row("store.events_single", "events/s", single, note="1 KiB, one in a transaction"),
            Row("store.events_batch", "events/s", batched, note="1 KiB, 64 in a transaction"),
            Row("store.points", "points/s", points, **promise(">=", 200_000),
                note="1 job, 1,000 steps of 10 series in a transaction; all counted after"),
            Row("store.points_many_jobs", "points/s", spread, **promise(">=", 200_000),
                note="64 jobs, 10 steps of 10 series each in a transaction; counted after"),
            Row("store.thin_million", "ms", thinned, **promise("<=", 200),
                note="1 M points into 2,000 buckets"),
            Row("store.log_ingest", "MiB/s", logs, note="1 MiB in a transaction")]


def grep_seconds(bench, directory, mebibytes_of_log):
    """Seconds of grep over a plain file with lines like those of SearchRareText in
    store_benchmark.cpp, and for the same text, which no line holds."""
    line = "[2026-11-21 12:00:00] step {}/300000 loss 3.084147 grad_norm 1.028049 tokens/s {}\n"
    lines = [line.format(step, 5000 + step % 97) for step in range(12_500)]
    piece = "".join(lines).encode()[:2**20]
    file = directory / "plain.log"
    with open(file, "wb") as output:
        for _ in range(mebibytes_of_log):
            output.write(piece)
    samples = []
    for _ in range(bench.repetitions):
        begin = time.perf_counter()
        # Locale C: grep compares bytes, as the store does. Exit code 1 means that no line matches.
        subprocess.run(["grep", "-c", "-F", "step 777777/", file], capture_output=True, check=False,
                       env={**os.environ, "LC_ALL": "C"})
        samples.append(time.perf_counter() - begin)
    return samples


def search(bench):
    size = 8 if bench.smoke else 1024  # MiB of log.
    found = mebibytes(bench, "store_benchmark", f"SearchRareText/{size}")
    tail = milliseconds(bench, "store_benchmark", f"TailThousandLines/{size}")
    with scratch(bench.data) as directory:
        plain = [size / seconds for seconds in grep_seconds(bench, directory, size)]
    middle = sorted(plain)[len(plain) // 2]
    return [Row("search.gibibyte", "MiB/s", found, note="a text that 1 GiB of log does not hold"),
            Row("search.seconds", "s", [size / rate for rate in found], note="the same"),
            Row("search.grep", "MiB/s", plain, note="reference: grep -F over a plain file"),
            Row("search.to_grep", "x", [rate / middle for rate in found], ratio=True,
                note="search.gibibyte / search.grep"),
            Row("search.tail", "ms", tail, **promise("<=", 300),
                note="last 1,000 lines of 1 GiB (the promise is for 10 GB)")]
