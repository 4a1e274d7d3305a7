#!/usr/bin/env python3
"""Plays misfortunes beside jobs of others and reports whether anybody else was hurt (README.md)."""
import argparse
import pathlib
import random
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
# pylint: disable=wrong-import-position
import mischief  # noqa: E402
from bystanders import Bystanders  # noqa: E402
from culprits import Culprits  # noqa: E402
from record import Record  # noqa: E402
from rough_site import NODES, SLOTS, Site  # noqa: E402
from watch import Watch, what_stays  # noqa: E402

ROOT = HERE.parent.parent
END_SECONDS = 600
STAY_SECONDS = 120


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--once", action="store_true", help="every misfortune once, then end")
    parser.add_argument("--only", default="", help="names of misfortunes, separated by commas")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--directory", type=pathlib.Path,
                        help="a new directory for everything; kept for inspection "
                             "[a new one among the temporary files]")
    settings = parser.parse_args()
    settings.chosen = chosen(parser, settings.only)
    return settings


def chosen(parser, only):
    """Names of the misfortunes to be played."""
    names = only.split(",") if only else list(mischief.ALL)
    unknown = set(names) - set(mischief.ALL)
    if unknown:
        parser.error(f"no such misfortune: {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(sorted(mischief.ALL))}")
    return sorted(names)


def directory_of(settings):
    if settings.directory is None:
        return pathlib.Path(tempfile.mkdtemp(prefix="trainyard-rough-"))
    settings.directory.mkdir(parents=True)
    return settings.directory.resolve()


def sequence(settings, source, end):
    """Names of the misfortunes to come."""
    if settings.once:
        yield from source.sample(settings.chosen, len(settings.chosen))
        return
    while time.monotonic() < end:
        yield source.choice(settings.chosen)


def play(site, scene, settings):
    source = random.Random(settings.seed)
    end = time.monotonic() + settings.minutes * 60
    for name in sequence(settings, source, end):
        site.record.play(name)
        # A separate source: the numbers drawn by one mischief must not affect later mischiefs.
        mischief.play(site, random.Random(source.random()), scene, name)
        time.sleep(source.uniform(0, 3))
        scene.others.look()


def settle(scene):
    """Ends the culprits and waits for the others."""
    scene.culprits.end()
    scene.others.finish(END_SECONDS)
    for number in scene.culprits.numbers:
        scene.others.await_end(number, END_SECONDS)


def call_the_roll(scene):
    """A gang on every slot shows that all of them work; it also ends the doubt about a node that
    could not start a rank while its disk was full."""
    site = scene.others.site
    number = site.try_submit({
        "name": "roll-call", "resources": {"device": "cpu", "nodes": NODES, "slots_per_node": SLOTS},
        "command": ["/bin/true"], "restart": {"max_restarts": 10, "backoff": 0}})
    job = scene.others.await_end(number, END_SECONDS) if number is not None else None
    if job is None or job["state"] != "succeeded":
        site.blame(f"the job on all {NODES * SLOTS} slots has not succeeded")


def run(site, settings):
    scene = mischief.Scene(Culprits(site), Bystanders(site))
    scene.others.prepare()
    watch = Watch(site)
    watch.start()
    try:
        scene.others.look()
        play(site, scene, settings)
        settle(scene)
        call_the_roll(scene)
    finally:
        watch.stop()
    for text in what_stays(site, STAY_SECONDS):
        site.blame(text)


def main():
    settings = options()
    directory = directory_of(settings)
    record = Record(directory, f"seed {settings.seed}, {settings.minutes:g} minutes")
    record.say(f"seed {settings.seed}, {settings.minutes:g} minutes, in {directory}")
    try:
        with Site(settings.programs.resolve(), directory, record) as site:
            run(site, settings)
    except KeyboardInterrupt:
        record.blame("interrupted")
    except Exception:  # pylint: disable=broad-except
        record.blame(f"the run broke: {traceback.format_exc()}")
    return record.end("ended")


if __name__ == "__main__":
    sys.exit(main())
