"""Measures the trainer on GPUs against the strongest PyTorch for the same step, in one command.

  python3 tests/gpu/bench.py --trainer build/gpu/bin/trainyard-trainer --out DIR
  python3 tests/gpu/bench.py --trainer ... --out DIR --rows 1.5b,162m --peers first
  python3 tests/gpu/bench.py --trainer ... --out DIR --rows 'm8-*,d64-*' --text TOKENS --cli CLI
  python3 tests/gpu/bench.py --join DIR,DIR --out DIR
  python3 tests/gpu/bench.py --trainer ... --out DIR --determinism

Needs a python3 with a CUDA PyTorch for the peers only. Writes the table into DIR, as JSON
and as Markdown, after every row. Ends with 1 if a row that fits on the machine was not measured or
missed what it must reach, or if a check fails.
"""
import argparse
import datetime
import fnmatch
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import determinism
import predictions
import report
import rows
import splits

# The first rows.WARMUP_STEPS of these steps are not timed.
FEWEST_STEPS = 24


def machine():
    """Date, names and drivers of the GPUs."""
    gpus = ""
    if shutil.which("nvidia-smi"):
        gpus = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,driver_version,power.limit", "--format=csv,noheader"],
            capture_output=True, text=True, check=False).stdout.strip().replace("\n", "; ")
    return {"date": datetime.datetime.now().strftime("%Y-%m-%d %H:%M"), "gpus": gpus}


def gpu_count(facts):
    return len(facts["gpus"].split("; ")) if facts["gpus"] else 0


def rows_that_fit():
    """The default rows that this machine has GPUs enough for."""
    gpus = gpu_count(machine())
    fitting = [name for name in rows.DEFAULT_ROWS if rows.fits(rows.ROWS[name], gpus)]
    others = [name for name in rows.DEFAULT_ROWS if name not in fitting]
    if others:
        print(f"bench: not on {gpus} GPU(s): {', '.join(others)}", file=sys.stderr)
    return fitting


def executable(text):
    """The path of a program; argparse reports what is wrong with another path."""
    path = pathlib.Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{path} does not exist; build it or correct the path")
    if not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"{path} is not executable; pass a program")
    return path.resolve()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", type=executable)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rows", default="", metavar="ROW,ROW",
                        help=f"some of {','.join(rows.ROWS)}; * stands for any text")
    parser.add_argument("--join", type=lambda text: [pathlib.Path(part) for part in
                                                     text.split(",")],
                        metavar="DIR,DIR",
                        help="measure nothing; write the tables of earlier commands as one")
    parser.add_argument("--text", type=pathlib.Path, metavar="TOKENS",
                        help="a directory of `trainyard data prepare`, for the rows on text")
    parser.add_argument("--cli", type=executable, metavar="PROGRAM",
                        help="the program trainyard of a release build: adds the planner's "
                             "predictions")
    parser.add_argument("--plan-device", default="",
                        help="GPU type to predict for (that of this machine)")
    parser.add_argument("--steps", type=int, default=FEWEST_STEPS,
                        help=f"steps of a run with {rows.WARMUP_STEPS} to warm up (%(default)s)")
    parser.add_argument("--peers", choices=("all", "first", "none"), default="all",
                        help="variants of PyTorch that each row is compared with (all)")
    parser.add_argument("--determinism", action="store_true",
                        help="instead of the table: are equal runs equal bit for bit?")
    parser.add_argument("--splits", action="store_true",
                        help="instead of the table: does a batch give the same losses however it "
                             "is split over GPUs?")
    parser.add_argument("--scratch", type=pathlib.Path,
                        default=pathlib.Path(tempfile.gettempdir()) / "trainyard-bench",
                        help="token files and checkpoints, up to 100 GB (%(default)s)")
    parser.add_argument("--timeout", type=int, default=540,
                        help="seconds that a run, or the peers of a row, may take (%(default)s)")
    options = parser.parse_args()
    if options.steps < FEWEST_STEPS:
        parser.error(f"--steps must be at least {FEWEST_STEPS}")
    if options.trainer is None and not options.join:
        parser.error("--trainer is missing")
    known = determinism.PLANS if options.determinism else rows.ROWS
    try:
        options.rows = named_rows(options.rows, known)
    except ValueError as error:
        parser.error(str(error))
    if options.cli and not options.plan_device:
        options.plan_device = predictions.device_of(machine()["gpus"].split(",")[0])
    return options


def named_rows(text, known):
    """The rows of "ROW,PATTERN,...", each once; ValueError for a name without a row."""
    names = {}
    for pattern in filter(None, text.split(",")):
        found = fnmatch.filter(known, pattern)
        if not found:
            raise ValueError(f"no row {pattern}; there are {', '.join(known)}")
        names.update(dict.fromkeys(found))
    return list(names)


def write_tables(out, entries, facts):
    (out / "bench.json").write_text(report.as_json(entries, facts))
    (out / "bench.md").write_text(report.as_markdown(entries, facts))


def measure_or_skip(bench, name, facts):
    row, gpus = rows.ROWS[name], gpu_count(facts)
    return rows.measure(bench, row) if rows.fits(row, gpus) else rows.unmeasured(row, gpus)


def measure_rows(bench, names):
    """Measures and writes the rows one by one; false if one has failed or missed its target."""
    facts = machine()
    for name in names:
        print(f"bench: {name}", file=sys.stderr, flush=True)
        bench.results[name] = measure_or_skip(bench, name, facts)
        write_tables(bench.out, list(map(report.entry_of, bench.results.values())), facts)
        print((bench.out / "bench.md").read_text(), file=sys.stderr, flush=True)
    print((bench.out / "bench.md").read_text())
    return not any(map(report.has_failed, map(report.entry_of, bench.results.values())))


def join(folders, out):
    """Writes the tables of the folders as one; false if a row has failed or missed its target."""
    tables = [json.loads((folder / "bench.json").read_text()) for folder in folders]
    entries, facts = report.joined(tables)
    write_tables(out, entries, facts)
    print((out / "bench.md").read_text())
    return not any(map(report.has_failed, entries))


def main():
    options = parse_arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.join:
        return 0 if join(options.join, options.out) else 1
    bench = rows.Bench(options)
    if options.determinism:
        passed = determinism.check(bench, options.rows or determinism.DEFAULT_ROWS)
        passed = splits.check(bench) and passed
    elif options.splits:
        passed = splits.check(bench)
        passed = splits.check_experts(bench) and passed
    else:
        passed = measure_rows(bench, options.rows or rows_that_fit())
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
