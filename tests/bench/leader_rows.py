"""Rows of two controllers on one PostgreSQL database: the time until the other one leads."""
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import uuid

from control_rows import Fleet
from history_rows import write_history
from postgres_rows import server, server_programs
from process_rows import spawn_milliseconds
from processes import BenchError, Cluster, SimulatedWorkers, cpu_percent, frozen, scratch, wait_for
from results import Row, promise

JOB = ("name: {name}\nresources: {{device: cpu}}\nrestart: {{max_restarts: 0}}\n"
       "command: [/bin/echo, {name}]\n")
# Time limit of an answer. A stopped controller never answers.
ANSWER_SECONDS = 1


def free_address():
    """An address on loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


class Pair:
    """Two controllers on one database. Each one is a `Cluster` without workers of its own."""

    def __init__(self, bench, directory, database):
        self.members = []
        for number in range(2):
            path = pathlib.Path(directory) / f"member{number}"
            path.mkdir()
            member = Cluster(bench.programs, path)
            member.address, member.http_address = free_address(), free_address()
            member.token_file = pathlib.Path(directory) / "token"
            member.controller_flags = ("--postgres", database, "--token-file", member.token_file)
            self.members.append(member)
        os.environ["TRAINYARD_TOKEN_FILE"] = str(self.members[0].token_file)

    def __enter__(self):
        try:
            for member in self.members:
                member.start_controller()
                # The first one creates the token file.
                wait_for(member.token_file.exists, "the token file")
            self.wait_for_both()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception):
        for member in self.members:
            if member.controller is not None:
                member.controller.end(signal.SIGKILL)

    @staticmethod
    def health(member):
        """The text with which this controller answers /healthz with status 200; "" otherwise."""
        connection = http.client.HTTPConnection(member.http_address, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/healthz", headers=member.headers())
            answer = connection.getresponse()
            return answer.read().decode() if answer.status == 200 else ""
        except (OSError, http.client.HTTPException):
            return ""
        finally:
            connection.close()

    def is_standby(self, member):
        return "is a standby" in self.health(member)

    def leader(self):
        """The member that leads; None while there is no leader."""
        return next((member for member in self.members if self.health(member) == "ok\n"), None)

    def wait_for_both(self):
        """Waits until one controller leads and the other is a standby. Returns the leader."""
        leader = wait_for(self.leader, "a leader")
        other = self.members[1 - self.members.index(leader)]
        wait_for(lambda: self.is_standby(other), "a standby")
        return leader

    def workers(self, count):
        """Simulated workers that follow the leader."""
        member, own = self.members[0], self.members[0].address
        member.address = ",".join(member.address for member in self.members)
        try:
            return SimulatedWorkers(member, count, 8)
        finally:
            member.address = own

    def submits(self, member, name):
        """Submits a job. Returns true if this controller has accepted it."""
        body = {"job_file": JOB.format(name=name), "request_id": name}
        headers = {**member.headers(), "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(member.http_address, timeout=ANSWER_SECONDS)
        try:
            connection.request("POST", "/api/v1/jobs", json.dumps(body), headers)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def seconds_to_submission(self, failed):
        """Seconds from now to the next accepted submission. Asks both controllers in turn."""
        name, begin = f"after-{uuid.uuid4().hex[:12]}", time.monotonic()
        other = self.members[1 - self.members.index(failed)]

        def accepted():
            # As the service manager does: on a loaded machine, a controller may lose the leadership.
            if other.controller.popen.poll() is not None:
                other.start_controller()
            return any(self.submits(member, name) for member in self.members)

        wait_for(accepted, "an accepted submission", pause=0.005)
        return time.monotonic() - begin


def killed(pair):
    """Kills the leader. Seconds to the next accepted submission."""
    leader = pair.wait_for_both()
    leader.controller.end(signal.SIGKILL)
    seconds = pair.seconds_to_submission(leader)
    leader.start_controller()
    return seconds


def stopped(pair):
    """Stops the leader. Seconds until the other controller has accepted a submission."""
    leader = pair.wait_for_both()
    with frozen([leader.controller.pid]):
        seconds = pair.seconds_to_submission(leader)
    # It no longer leads, and exits.
    leader.controller.popen.wait(30)
    leader.start_controller()
    return seconds


def handed_over(bench, pair):
    """Hands over to the other controller. Seconds until it leads."""
    leader = pair.wait_for_both()
    begin = time.monotonic()
    done = subprocess.run([bench.programs / "bin/trainyard", "--server", leader.address, "server",
                           "hand-over"], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        raise BenchError(f"server hand-over: {done.stderr}")
    leader.controller.popen.wait(30)
    leader.start_controller()
    return seconds


def fail_overs(bench, directory, database):
    times = 1 if bench.smoke else 4 * bench.repetitions
    with Pair(bench, directory, database) as pair, pair.workers(1):
        kills = [killed(pair) for _ in range(times)]
        stops = [stopped(pair) for _ in range(times)]
        hand_overs = [handed_over(bench, pair) for _ in range(times)]
    return [Row("leaders.hand_over", "s", hand_overs, **promise("<=", 1),
                note="`server hand-over` until the other controller leads"),
            Row("leaders.kill", "s", kills, **promise("<=", 1.5),
                note="kill -9 of the leader to the next accepted submission over REST"),
            Row("leaders.stop", "s", stops, **promise("<=", 5),
                note="SIGSTOP of the leader to the next accepted submission")]


def fleet(bench, directory, database):
    """The cost of many idle workers, and how soon all of them follow the new leader."""
    workers, seconds = (8, 0.2) if bench.smoke else (2000, 5)
    times = 1 if bench.smoke else bench.repetitions
    attached, gangs = [], Fleet(bench)
    with Pair(bench, directory, database) as pair:
        with pair.workers(workers) as simulated:
            for _ in range(times):
                leader = pair.wait_for_both()
                busy = cpu_percent(leader.controller, seconds, times)
                begin = time.time()
                leader.controller.end(signal.SIGKILL)
                attached.append(simulated.wait_attached() / 1e3 - begin)
                leader.start_controller()
            leader = pair.wait_for_both()
            gangs.fill(leader)
            standby = pair.members[1 - pair.members.index(leader)]
            idle = cpu_percent(standby.controller, seconds, times)
    return [Row("leaders.attached", "s", attached, **promise("<=", 5),
                note=f"kill -9 of the leader until the last of {workers} workers is welcome"),
            Row("leaders.leader_cpu", "% of a core", busy, **promise("<=", 100),
                note=f"leader with {workers} workers at 1 Hz over gRPC"),
            Row("leaders.standby_cpu", "% of a core", idle, **promise("<=", 20),
                note=f"standby beside it while {gangs.running} gangs of {gangs.gang} nodes train")]


def large_fleet(bench, directory, database):
    """The processor time of a leader with 5,000 idle workers."""
    workers, seconds = (16, 0.2) if bench.smoke else (5000, 5)
    with Pair(bench, directory, database) as pair, pair.workers(workers):
        leader = pair.wait_for_both()
        busy = cpu_percent(leader.controller, seconds, 1 if bench.smoke else bench.repetitions)
    return [Row("leaders.large_fleet_cpu", "% of a core", busy, **promise("<=", 100),
                note=f"leader with {workers} workers at 1 Hz over gRPC")]


def moved_history(bench, directory, database, ended, running):
    """Writes a history into SQLite files and moves it to the database. Seconds of the move."""
    with Cluster(bench.programs, directory) as cluster:
        wait_for(cluster.serves, "the controller")
        cluster.controller.end(signal.SIGKILL)
        write_history(bench, cluster, ended, running)
        begin = time.time()
        done = subprocess.run(
            [bench.programs / "bin/trainyard", "server", "migrate", "--to", "postgres",
             "--data-dir", directory / "controller", "--postgres", database],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"server migrate: {done.stderr}")
        return time.time() - begin


def history(bench, directory, database):
    """The take-over with a long history, and `ps` after it."""
    ended, running = (2000, 20) if bench.smoke else (1_000_000, 1000)
    files = directory / "sqlite"
    files.mkdir()
    moved = moved_history(bench, files, database, ended, running)
    with Pair(bench, directory, database) as pair, pair.workers(1):
        seconds = [killed(pair) for _ in range(bench.repetitions)]
        address = pair.wait_for_both().address
        ps = spawn_milliseconds(
            [str(bench.programs / "bin/trainyard"), "--server", address, "ps"],
            8 * bench.repetitions)
    note = f"{running:,} running and {ended:,} ended jobs"
    return [Row("leaders.history_kill", "s", seconds, **promise("<=", 1),
                note=f"leaders.kill with {note}"),
            Row("leaders.history_ps", "ms", ps, **promise("<=", 80), note=f"`ps` with {note}"),
            Row("leaders.history_moved", "s", [moved],
                note=f"not a promise: `server migrate --to postgres` of {note}")]


def leaders(bench):
    if server_programs() is None:
        return [Row("leaders", "-", [], note="not measured: no server in /usr/lib/postgresql")]
    rows = []
    with server(bench) as new_database:
        for measured in (fail_overs, fleet, large_fleet, history):
            with scratch(bench.data) as directory:
                rows += measured(bench, directory, new_database())
    return rows
