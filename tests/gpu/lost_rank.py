"""Kills a rank while the others wait for it, and checks that they exit with 69 in time.

  lost_rank.py --trainer build/gpu/bin/trainyard-trainer --device gpu --ranks 2 --hidden 512 \\
      --length 512 --model '{"num_experts": 8, "moe_router_topk": 2}' \\
      --layout '{"ep": 2, "etp": 1}' --operation all-to-all

Each trial starts the ranks without healing and stops one of them (SIGSTOP) at a random moment. The
others then wait for it in an operation. After a while the stopped rank is killed. Prints, for each
trial, the operation and the seconds from SIGKILL until the last rank has exited. Ends with 1 if a
rank exits with another code or not in time, or if no trial met the operation of --operation.
healing.py --stopped does the same to ranks that heal in place.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import healing

LOST_PEER = 69
ENDLESS = 1_000_000
FIRST_STEPS = 5
# Seconds after which a rank counts as lost. A GPU does not notice earlier that a peer on the same
# node has died.
LOST_AFTER = 5


def waited_for(member):
    """Operations in which the rank waited as it ended: the newest flight record of each group."""
    newest = {}
    path = member.run / "telemetry.jsonl"
    for line in path.read_text().splitlines() if path.exists() else []:
        record = json.loads(line)
        if record["type"] == "flight":
            newest[record["group"]] = record
    return {record["operation"] for record in newest.values() if record.get("entered_ms", 0) > 0}


def run_trial(arguments, spec, folder, chance):
    """(operations of the waiting ranks, seconds until they have exited, problems)."""
    gang = healing.Gang(arguments, spec, folder, heals=False)
    gang.wait(lambda: gang.newest_step() >= FIRST_STEPS, f"step {FIRST_STEPS}")
    time.sleep(chance.random() * arguments.within)
    victim = chance.randrange(arguments.ranks)
    killed = gang.kill(victim)
    others = [member for rank, member in enumerate(gang.ranks) if rank != victim]
    problems = []
    for member in others:
        left = max(0.0, killed + arguments.limit - time.time())
        try:
            if member.process.wait(left) != LOST_PEER:
                problems.append(member.end())
        except subprocess.TimeoutExpired:
            member.process.kill()
            member.process.wait()
            problems.append(f"{member.run.name} had not exited after {arguments.limit} s")
    seconds = time.time() - killed
    return set().union(*map(waited_for, others)), seconds, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    healing.add_gang_options(parser, ranks=2, kills=10, stopped=1.0)
    parser.add_argument("--limit", type=float, default=60,
                        help="seconds until the ranks must have exited (%(default)s)")
    parser.add_argument("--within", type=float, default=0.5,
                        help="a rank is stopped within so many seconds (%(default)s)")
    parser.add_argument("--operation", default="",
                        help="an operation in which a rank must have waited, such as all-to-all")
    arguments = parser.parse_args()
    arguments.steps = ENDLESS
    chance = random.Random(arguments.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lost-rank-"))
    spec = healing.settings(arguments, healing.make_data(folder))
    spec["train"]["distributed_timeout_s"] = LOST_AFTER
    met, failed = 0, 0
    for number in range(1, arguments.kills + 1):
        operations, seconds, problems = run_trial(arguments, spec, folder / str(number), chance)
        met += arguments.operation in operations
        failed += bool(problems)
        print(f"{number}: waited in {', '.join(sorted(operations)) or 'no operation'}, exited "
              f"after {seconds:.2f} s", *problems, sep="\n  ", flush=True)
    print(f"{arguments.kills} kills: {failed} failed"
          + (f", {met} in {arguments.operation}" if arguments.operation else ""))
    return 1 if failed or (arguments.operation and not met) else 0


if __name__ == "__main__":
    sys.exit(main())
