#!/usr/bin/env python3
"""Plays misfortunes beside jobs of others and reports whether anybody else was hurt (README.md)."""
import argparse
import collections
import datetime
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
# pylint: disable=wrong-import-position
import mischief  # noqa: E402
from bystanders import Bystanders, is_over  # noqa: E402
from rough_site import Site  # noqa: E402
from watch import Watch, what_stays  # noqa: E402

ROOT = HERE.parent.parent
END_SECONDS = 600


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--once", action="store_true", help="every misfortune once, then end")
    parser.add_argument("--only", default="", help="names of misfortunes, separated by commas")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--directory", type=pathlib.Path, required=True,
                        help="a new directory for everything; kept for inspection")
    return parser.parse_args()


def sequence(chosen, source, once, end):
    """Names of the misfortunes to come."""
    if once:
        yield from source.sample(sorted(chosen), len(chosen))
        return
    names = sorted(chosen)
    while time.monotonic() < end:
        yield source.choice(names)


def say(text):
    print(f"{datetime.datetime.now():%H:%M:%S} {text}", flush=True)


def play(site, bystanders, settings):
    """Plays the sequence; returns how often each was played, and the culprits' jobs."""
    source = random.Random(settings.seed)
    chosen = {name: action for name, action in mischief.ALL.items()
              if not settings.only or name in settings.only.split(",")}
    culprits = mischief.Culprits(site)
    played = collections.Counter()
    end = time.monotonic() + settings.minutes * 60
    for name in sequence(chosen, source, settings.once, end):
        say(name)
        # Its own source: how long it takes must not change what comes next.
        chosen[name](site, random.Random(source.random()), culprits)
        played[name] += 1
        time.sleep(source.uniform(0, 3))
        bystanders.look()
    return played, culprits


def settle(site, bystanders, culprits):
    """Ends the culprits and waits for the others."""
    for number in culprits.numbers:
        job = site.job(number)
        if job is None or not is_over(job):
            site.cli("kill", number, "-y")
    bystanders.finish(END_SECONDS)
    for number in culprits.numbers:
        bystanders.await_end(number, END_SECONDS)


def report(played, bystanders, watch, stays):
    say(f"{sum(played.values())} misfortunes: "
        + ", ".join(f"{name} {count}" for name, count in sorted(played.items())))
    say(f"{bystanders.trained} training jobs, {bystanders.compared} losses compared, "
        f"{bystanders.lost_with_a_node} lost with a node's data directory; "
        f"{bystanders.done} short jobs; {watch.looks} looks at all processes")
    wrong = [*bystanders.wrong, *sorted(watch.wrong), *stays]
    for text in wrong:
        say(f"WRONG: {text}")
    say(f"{len(wrong)} things wrong")
    return 1 if wrong else 0


def main():
    settings = options()
    settings.directory.mkdir(parents=True)
    say(f"seed {settings.seed}, {settings.minutes:g} minutes")
    with Site(settings.programs.resolve(), settings.directory.resolve(), say) as site:
        bystanders = Bystanders(site)
        bystanders.prepare()
        watch = Watch(site)
        watch.start()
        bystanders.look()
        played, culprits = play(site, bystanders, settings)
        settle(site, bystanders, culprits)
        watch.stop()
        stays = what_stays(site, 120)
    return report(played, bystanders, watch, stays)


if __name__ == "__main__":
    sys.exit(main())
