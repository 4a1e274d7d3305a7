"""Impostors that listen where the controller did."""
import base64
import pathlib
import subprocess

from rough_site import HERE, NODES

NOBODY = 65534


def foreign_listener(site, random, _scene):
    """Another user binds the controller's port while the controller is down."""
    site.stop_controller()
    port = site.address.rpartition(":")[2]
    # The user may lack access to this tree and to the Python that runs this script.
    try:
        done = subprocess.run(
            ["/usr/bin/python3", "-", port, str(random.uniform(3, 8))],
            input=(HERE / "programs/impostor.py").read_text(), cwd="/", capture_output=True,
            text=True, user=NOBODY, group=NOBODY, extra_groups=[], check=False)
    finally:
        # The command line sends a request, too, before the controller is back.
        site.start_controller()
    site.await_controller()
    if done.returncode != 0:
        site.blame(f"the impostor could not listen: {done.stderr.strip()}")
        return
    heard = base64.b64decode(done.stdout)
    site.record.count("bytes that impostors heard", len(heard))
    for name, secret in secrets(site):
        if secret in heard:
            site.blame(f"an impostor at the controller's port was given {name}")


def secrets(site):
    """(name, bytes) of all that opens the controller or proves a node."""
    yield "the token", pathlib.Path(site.token_file).read_bytes().strip()
    for node in range(NODES):
        file = site.worker_dir(node) / "node_secret"
        if file.exists():
            yield f"the secret of node {node}", file.read_bytes().strip()


MISFORTUNES = (foreign_listener,)
