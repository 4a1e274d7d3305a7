"""Measures every row, prints one table, writes it as JSON. Called by tests/bench/run.sh."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import sys
import traceback

import client_rows
import code_rows
import control_rows
import healing_rows
import history_rows
import leader_rows
import postgres_rows
import process_rows
import store_rows
import trainer_rows
from processes import BenchError, raise_descriptor_limit
from results import Row, as_json, check, table

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent

# Name prefix of rows -> the function that measures these rows.
GROUPS = {
    "disk": store_rows.disk,
    "core": store_rows.core,
    "store": store_rows.store,
    "search": store_rows.search,
    "submit": control_rows.submit,
    "ingest": control_rows.ingest,
    "postgres": postgres_rows.postgres,
    "leaders": leader_rows.leaders,
    "fleet": control_rows.fleet_rows,
    "history": history_rows.history,
    "clients": client_rows.clients,
    "cli": process_rows.cli,
    "parse": process_rows.parse,
    "code": code_rows.code,
    "worker": process_rows.worker,
    "kill": process_rows.kill,
    "suspect": process_rows.suspect,
    "faults": process_rows.faults,
    "hang": healing_rows.hang,
    "guard": healing_rows.guard,
    "heal": healing_rows.heal,
    "recover": trainer_rows.recover,
    "trainer": trainer_rows.trainer,
}
# Name prefix of rows -> the group that measures these rows.
ALIASES = {"list": "fleet", "restart": "fleet"}

# Targets of ARCHITECTURE.md section 7 that cannot be measured here.
ELSEWHERE = {
    "gpu.tokens": (">= 1.10 x PyTorch", "needs an H200: tests/gpu/bench.py"),
    "effective.time": (">= 99.5 % at 9,600 GPUs", "LongRunTest prints it: tests/simulation"),
    "planner.error": ("5 % mean, 10 % max", "controller_planner_test prints and bounds it"),
}


class Bench:
    """Options of the run, which every measurement receives."""

    def __init__(self, options):
        self.programs = options.build.resolve()
        self.data = options.data.resolve()
        self.repetitions = 1 if options.smoke else options.repetitions
        self.smoke = options.smoke
        # Median duration of a sync. Set by the group "disk".
        self.sync_ms = None


def machine():
    cpu = platform.processor()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_gib": round(memory),
            "kernel": platform.release(), "load": os.getloadavg()[0],
            "date": datetime.datetime.now().strftime("%Y-%m-%d %H:%M")}


def chosen_groups(names):
    if not names:
        return list(GROUPS)
    groups = []
    for name in names:
        first = name.partition(".")[0]
        group = ALIASES.get(first, first)
        if group not in GROUPS:
            sys.exit(f"bench: no row begins with `{name}`; rows begin with {', '.join(GROUPS)}")
        if group not in groups:
            groups.append(group)
    return groups


def measure(bench, groups):
    """Every row of the groups; a group that fails gives one row that says why."""
    rows, failed = [], False
    for group in groups:
        load = os.getloadavg()[0]
        print(f"bench: {group} (load {load:.1f})", file=sys.stderr, flush=True)
        try:
            measured = GROUPS[group](bench)
        except (BenchError, OSError, ValueError, KeyError) as error:
            traceback.print_exc()
            measured, failed = [Row(group, "-", [], note=f"not measured: {error}")], True
        print(table(measured), file=sys.stderr, flush=True)
        rows += measured
    return rows, failed


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tests/bench/run.sh", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW",
                        help=f"all, or some of {', '.join(GROUPS)}")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "build/bench",
                        help="directory on the disk to measure (build/bench)")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "build/bench.json",
                        help="where the table is written as JSON (build/bench.json)")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--check", action="store_true",
                        help="compare ratio rows with ranges.json; 1 when one is 20 %% worse")
    parser.add_argument("--smoke", action="store_true",
                        help="smallest sizes, once: shows that every row can be measured")
    return parser.parse_args()


def main():
    options = parse_arguments()
    raise_descriptor_limit()
    begin = machine()
    rows, failed = measure(Bench(options), chosen_groups(options.rows))
    if not options.rows:
        rows += [Row(name, "-", [], promised=promised, note=f"not measured here: {why}")
                 for name, (promised, why) in ELSEWHERE.items()]
    begin["load_at_end"] = os.getloadavg()[0]
    print(f"\n{begin['date']}, {begin['cores']} x {begin['cpu']}, {begin['memory_gib']} GiB, load "
          f"{begin['load']:.1f} .. {begin['load_at_end']:.1f}, {options.repetitions} repetitions\n")
    if options.smoke:
        print("Smoke sizes: these are no figures.\n")
    print(table(rows))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(as_json(rows, begin))
    if options.check:
        complaints = check(rows, json.loads((HERE / "ranges.json").read_text()))
        for complaint in complaints:
            print(f"bench: {complaint}", file=sys.stderr)
        failed = failed or bool(complaints)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
