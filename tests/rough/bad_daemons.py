"""Daemons and shims that are killed, frozen, cut off, or have a wrong clock."""
import signal
import time

from rough_site import NODES, kill

HOUR = 3600


def kill_controller(site, _random, _scene):
    site.restart_controller()


def kill_worker(site, random, _scene):
    site.restart_worker(random.randrange(NODES))


def leave_and_return(site, random, scene):
    """A clean leave of a node right after work was submitted that may be placed there."""
    node = random.randrange(NODES)
    scene.culprits.submit("vandal", 0.2)
    # The worker ends its ranks first, because it runs with --stop-ranks-on-exit.
    site.workers[node].end(signal.SIGTERM, 60)
    time.sleep(random.uniform(0, 2))
    site.start_worker_again(node)


def freeze_worker(site, random, _scene):
    worker = site.workers[random.randrange(NODES)]
    kill(worker.pid, signal.SIGSTOP)
    time.sleep(random.uniform(1, 12))
    kill(worker.pid, signal.SIGCONT)


def kill_shims(site, random, _scene):
    """A few shims die; their programs live on without parents."""
    shims = site.shims(random.randrange(NODES))
    for pid in random.sample(shims, min(len(shims), 2)):
        kill(pid)


def kill_shims_and_worker(site, random, _scene):
    node = random.randrange(NODES)
    kill(site.workers[node].pid)
    for pid in site.shims(node):
        kill(pid)
    site.restart_worker(node)


def cut_network(site, random, _scene):
    """The wire of one or two workers is cut, or takes bytes and gives none."""
    nodes = random.sample(range(NODES), random.randrange(1, NODES))
    for node in nodes:
        site.set_wire(node, random.choice(("cut", "hold")))
    time.sleep(random.uniform(1, 20))
    for node in nodes:
        site.set_wire(node, "pass")


def wrong_clock(site, random, _scene):
    """A daemon's wall clock jumps by hours, sometimes over a start, and jumps back."""
    daemon = random.choice(("controller", *(f"worker{node}" for node in range(NODES))))
    site.shift_clock(daemon, random.uniform(-3 * HOUR, 3 * HOUR))
    if random.random() < 0.3:
        restart(site, daemon)
    time.sleep(random.uniform(1, 8))
    site.shift_clock(daemon, 0)
    if random.random() < 0.3:
        restart(site, daemon)


def restart(site, daemon):
    if daemon == "controller":
        site.restart_controller()
    else:
        site.restart_worker(int(daemon.removeprefix("worker")))


MISFORTUNES = (kill_controller, kill_worker, leave_and_return, freeze_worker, kill_shims,
               kill_shims_and_worker, cut_network, wrong_clock)
