"""Rows of code snapshots: the time that a submission needs for them, and their way to the nodes."""
import json
import os
import resource
import shutil
import subprocess
import time

from processes import BenchError, Cluster, scratch
from results import Row, promise

AGE_SECONDS = 60
# A file counts as unchanged only if its ctime, too, is older than this (proto/code/README.md).
SETTLED_SECONDS = 2.5


def write_tree(root, files, file_bytes):
    """Files of random bytes in 100 directories, written long ago."""
    then = time.time() - AGE_SECONDS
    for number in range(files):
        path = root / f"d{number % 100}" / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(file_bytes))
        os.utime(path, (then, then))


def submit_seconds(server, job, name):
    begin = time.perf_counter()
    ended = subprocess.run([*server, "submit", job, "--set", f"name={name}"],
                           capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if ended.returncode != 0:
        raise BenchError(f"submit: {ended.stderr.strip()}")
    # The node unpacks the code on this machine, too: the next measurement begins after that.
    subprocess.run([*server, "wait", name], capture_output=True, check=True)
    return seconds


def submissions(bench):
    files, file_bytes = (200, 500) if bench.smoke else (20_000, 5_000)
    first, unchanged = [], []
    with scratch(bench.data) as directory, Cluster(bench.programs, directory) as cluster:
        server = [str(bench.programs / "bin/trainyard"), "--server", cluster.address]
        cluster.start_worker(1)
        for repetition in range(bench.repetitions):
            source = directory / f"source{repetition}"
            write_tree(source, files, file_bytes)
            time.sleep(0 if bench.smoke else SETTLED_SECONDS)
            job = directory / "job.yaml"
            job.write_text(f"name: code\ncommand: ['true']\ncode: {{path: {source}}}\n"
                           "resources: {device: cpu}\n")
            first.append(submit_seconds(server, job, f"first-{repetition}"))
            unchanged.append(submit_seconds(server, job, f"unchanged-{repetition}"))
            shutil.rmtree(source)
    note = f"{files:,} files, {files * file_bytes / 1e6:.3g} MB, all in memory"
    return [Row("code.first_submit", "s", first, **promise("<=", 2), note=note),
            Row("code.unchanged_submit", "s", unchanged, **promise("<=", 0.2), note=note)]


def fetches(bench):
    """All nodes fetch one snapshot at the same time, in one process with this machine's cores."""
    nodes, size = (8, 200_000) if bench.smoke else (256, 20_000_000)
    seconds, copies, cpu = [], [], []
    # A run writes 5 GB; three runs show the spread.
    for _ in range(min(bench.repetitions, 3)):
        with scratch(bench.data) as directory:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            ended = subprocess.run(
                [bench.programs / "bench/trainyard-bench-code", "--directory", directory,
                 "--nodes", str(nodes), "--bytes", str(size)],
                check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            # Trees are read-only, so only their owner's change of mode allows the removal.
            subprocess.run(["chmod", "-R", "u+w", directory], check=True)
        report = json.loads(ended.stdout)
        if report["ready_nodes"] != nodes:
            raise BenchError(f"only {report['ready_nodes']} of {nodes} nodes got the snapshot")
        seconds.append(report["seconds"])
        copies.append(report["max_copies"])
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        cpu.append(used / nodes)
    note = f"{nodes} nodes in one process, {size / 1e6:.3g} MB each"
    return [Row("code.fetch", "s", seconds, **promise("<=", 10), note=note),
            Row("code.fetch_copies", "copies", copies, **promise("<=", 3),
                note="maximum number of times that a blob left the controller"),
            Row("code.fetch_cpu", "s of a core per node", cpu, note=note)]


def code(bench):
    return submissions(bench) + fetches(bench)
