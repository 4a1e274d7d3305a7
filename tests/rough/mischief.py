"""All misfortunes by name. Each is a function of (site, random, scene); it returns when it is over,
and what it broke works again as far as an operator would have mended it.

The scene has `culprits`, which take the jobs that do harm, and `others`, the jobs that must not
notice."""
import collections
import contextlib
import time

import bad_callers
import bad_clocks
import bad_daemons
import bad_disks
import bad_gangs
import bad_jobs
import bad_links
import bad_records
import bad_roots
import bad_snapshots

Scene = collections.namedtuple("Scene", "culprits others")

ALL = {action.__name__: action
       for module in (bad_clocks, bad_daemons, bad_records, bad_disks, bad_roots, bad_jobs, bad_gangs,
                       bad_callers, bad_links, bad_snapshots)
       for action in module.MISFORTUNES}


def play(site, random, scene, name):
    """Plays one; a misfortune that breaks itself is a finding, and the run goes on."""
    begin = time.monotonic()
    try:
        ALL[name](site, random, scene)
    except Exception as error:  # pylint: disable=broad-except
        site.blame(f"{name} broke after {time.monotonic() - begin:.0f} s: {error!r}")
        with contextlib.suppress(Exception):
            mend(site)


def mend(site):
    """Brings back what a misfortune that broke may have left behind."""
    if site.controller.popen.poll() is not None:
        site.start_controller()
    site.await_controller()
    site.revive_workers()
