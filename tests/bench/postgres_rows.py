"""Rows of a controller on PostgreSQL, beside the same controller on SQLite in the same run."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile

from control_rows import submissions
from processes import BenchError, Process, scratch, wait_for
from results import Row, promise
from store_rows import google_benchmark


def server_programs():
    """The folder with the newest installed server; None without a server."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def account():
    """Options that start a program as an ordinary user, because initdb refuses root."""
    if os.getuid() != 0:
        return {}
    entry = pwd.getpwnam("postgres")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@contextlib.contextmanager
def server(bench):
    """A server with its default settings and its data on the measured disk. Yields a function that
    returns the connection string of a new database."""
    programs, user = server_programs(), account()
    sockets = pathlib.Path(tempfile.mkdtemp())
    with scratch(bench.data) as directory:
        for path in (sockets, directory):
            os.chown(path, user.get("user", os.getuid()), user.get("group", os.getgid()))
        for parent in directory.parents:
            if parent.stat().st_mode & 0o001 == 0:
                raise BenchError(f"other users cannot enter {parent}; use --data")
        data = directory / "postgres"
        subprocess.run([programs / "initdb", "-D", data, "-U", "trainyard", "-A", "trust"],
                       check=True, capture_output=True, cwd="/", **user)
        process = Process([programs / "postgres", "-D", data, "-k", sockets, "-c",
                           "listen_addresses="], sockets / "log", cwd="/", **user)
        try:
            # The server creates its socket before it accepts connections.
            ready = [programs / "pg_isready", "-q", "-h", sockets]
            wait_for(lambda: subprocess.run(ready, check=False, cwd="/").returncode == 0,
                     "the database server")
            names = iter(range(1000))

            def new_database():
                name = f"bench{next(names)}"
                subprocess.run([programs / "createdb", "-h", sockets, "-U", "trainyard", name],
                               check=True, capture_output=True, cwd="/")
                return f"host={sockets} user=trainyard dbname={name}"

            yield new_database
        finally:
            process.end(signal.SIGINT)
            shutil.rmtree(sockets, ignore_errors=True)


def postgres(bench):
    few = 5 if bench.smoke else 300
    sizes = {"one_caller": (1, few, 800), "64_callers": (64, 10 * few, 4000),
             "1024_callers": (1024, 20 * few, None)}
    if server_programs() is None:
        return [Row("postgres", "-", [], note="not measured: no server in /usr/lib/postgresql")]
    rows = []
    with server(bench) as new_database:
        for name, (callers, jobs, least) in sizes.items():
            files, _ = submissions(bench, callers, jobs)
            tables, _ = submissions(bench, callers, jobs,
                                    controller_flags=("--postgres", new_database()))
            middle = sorted(files)[len(files) // 2]
            rows += [Row(f"postgres.{name}", "jobs/s", tables,
                         **(promise(">=", least) if least else {}),
                         note="durable submissions, server on the same disk"),
                     Row(f"postgres.{name}_sqlite", "jobs/s", files, note="the same on SQLite"),
                     Row(f"postgres.{name}_ratio", "x", [rate / middle for rate in tables],
                         note="PostgreSQL / SQLite; depends on the disk")]
        rows.append(Row("postgres.loop", "jobs/s", through_loop(bench, new_database),
                        **promise(">=", 20_000),
                        note="8,000 under way through loop and PostgreSQL, without gRPC; each is "
                             "one event"))
    return rows


def through_loop(bench, new_database):
    """Submissions a second through the loop, on an empty database each time."""
    jobs, callers = (500, 100) if bench.smoke else (20_000, 8000)
    return [google_benchmark(bench, "loop_benchmark", f"LoopSubmissions/{jobs}/{callers}",
                             repetitions=1,
                             variables={"TRAINYARD_BENCH_POSTGRES": new_database()})
            [0]["items_per_second"] for _ in range(bench.repetitions)]
