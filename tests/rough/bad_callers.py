"""Callers without the right token, with half a request, or with names that mislead."""
import contextlib
import http.client
import socket
import time

from bystanders import short
from rough_site import NODES

PATHS = ("/api/v1/jobs", "/api/v1/nodes", "/api/v1/server", "/api/v1/jobs/1/events")
HALF_REQUESTS = 80


def strangers(site, random, _scene):
    """Requests without a token and with wrong ones, over HTTP and gRPC: none is let in."""
    wrong = site.directory / "wrong-token"
    wrong.write_text(f"{random.randrange(10**40):064x}\n")
    wrong.chmod(0o600)
    for headers in ({}, {"Authorization": "Bearer " + wrong.read_text().strip()},
                    {"Authorization": "Bearer "}, {"Cookie": "trainyard_session=1"},
                    {"Trainyard-Session": wrong.read_text().strip()}):
        for path in PATHS:
            judge(site, f"GET {path} with {list(headers)}", http_status(site, path, headers) == 401)
    for command in (("ps",), ("nodes",), ("kill", "1", "-y"), ("node", "cordon", "node0")):
        code, _, error = site.cli(*command, token_file=wrong)
        judge(site, f"`trainyard {' '.join(command)}` with a wrong token", code not in (0, None))
        if "unreachable" in error:
            site.blame(f"a wrong token looks like a controller that is away: {error}")


def judge(site, what, was_refused):
    site.record.count("refusals" if was_refused else "door open")
    if not was_refused:
        site.blame(f"{what} was not refused")


def http_status(site, path, headers):
    host, port = site.http_address.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status


def half_requests(site, random, _scene):
    """Many connections that begin a request and say no more; others are answered meanwhile."""
    metrics = (site.worker_dir(random.randrange(NODES)) / "metrics_address").read_text().strip()
    for address in (site.address, site.http_address, metrics):
        with contextlib.ExitStack() as stack:
            for _ in range(HALF_REQUESTS):
                send_half(address, stack)
                site.record.count("half requests")
            check_answers(site, metrics)


def send_half(address, stack):
    host, port = address.split(":")
    # Errors are expected: a listener may defend itself by refusing or closing connections.
    with contextlib.suppress(OSError):
        connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=5))
        connection.sendall(b"GET /metrics HTT")


def check_answers(site, metrics):
    begin = time.monotonic()
    if site.cli_json("ps") is None:
        site.blame("beside half requests the controller does not list jobs")
    if not site.serves():
        site.blame("beside half requests the controller does not answer over HTTP")
    host, port = metrics.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    with contextlib.closing(connection):
        connection.request("GET", "/metrics")
        if connection.getresponse().status != 200:
            site.blame("beside half requests a worker gives no metrics")
    if time.monotonic() - begin > 30:
        site.blame(f"beside half requests answers took {time.monotonic() - begin:.0f} s")


def names_of_digits(site, random, scene):
    """A job named like a number would be meant by commands for that number."""
    number = site.try_submit(short(str(random.randrange(1, 1000))))
    if number is not None:
        scene.culprits.numbers.append(number)
        site.blame(f"job {number} was taken with a name of digits")


MISFORTUNES = (strangers, half_requests, names_of_digits)
