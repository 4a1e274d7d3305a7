"""Measures the data pipeline and its peers, and prints a table. Called by run.sh."""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

import program_rows
import text_rows
from corpus import make_corpus
from figures import Figure, table
from tokenizer_files import PACKAGES, make_tokenizers

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ROWS = {"gpt2": text_rows.gpt2, "llama3": text_rows.llama3, "qwen3": text_rows.qwen3,
        "deepseek": text_rows.deepseek, "llama2": text_rows.llama2, "cjk": text_rows.cjk,
        "repeated": text_rows.repeated, "filter": text_rows.filters, "sign": text_rows.signatures,
        "prepare": program_rows.prepare, "train": program_rows.training,
        "bands": program_rows.bands, "memory": program_rows.memory, "growth": program_rows.growth,
        "train_large": program_rows.large_training}
# A process that takes longer is an error. Seconds.
TIMEOUT_S = "3600"


@dataclasses.dataclass
class Usage:
    cpu: float  # seconds
    wall: float
    rss: float  # bytes
    output: str


class Bench:
    """Options of the run, and the ways to measure."""

    def __init__(self, options):
        self.directory = options.work.resolve()
        self.packages = options.packages.resolve() if options.packages else None
        self.programs = options.build.resolve()
        self.repetitions = options.repetitions
        self.divisor = 100 if options.small else 1
        self.threads = os.cpu_count()
        self.peer_bytes = 10_000_000 // self.divisor
        corpus = self.directory / ("small" if options.small else "full")
        self.sizes = make_corpus(corpus, 220_000_000 // (20 if options.small else 1))
        self.mixed, self.cjk, self.jsonl = (
            corpus / name for name in ("mixed.txt", "cjk.txt", "mixed.jsonl"))
        self.tokenizers = make_tokenizers(self.directory / "tokenizers", self.packages)

    def repeat(self, measure):
        return [measure() for _ in range(self.repetitions)]

    def process(self, command, stdin=None):
        """Runs a program."""
        environment = {**os.environ, "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        from_child, to_parent = os.pipe()
        arguments = ["python3", "-S", str(HERE / "launch.py"), str(to_parent),
                     "timeout", "--foreground", TIMEOUT_S, *(str(part) for part in command)]
        with open(stdin or os.devnull, "rb") as source, os.fdopen(from_child) as report:
            begin = time.monotonic()
            done = subprocess.run(arguments, stdin=source, stdout=subprocess.PIPE, env=environment,
                                  pass_fds=[to_parent], check=False)
            wall = time.monotonic() - begin
            os.close(to_parent)
            if done.returncode != 0:
                raise RuntimeError(f"exit code {done.returncode}: {' '.join(arguments[7:])}")
            used = json.loads(report.read())
        return Usage(used["cpu"], wall, used["rss"], done.stdout.decode(errors="replace"))

    def measure(self, *arguments):
        """The output of trainyard-bench-data."""
        used = self.process([self.programs / "bench/trainyard-bench-data", *arguments])
        return json.loads(used.output)

    def bands(self, documents, copies):
        """Near duplicates among generated signatures. A tenth of the documents are equal."""
        return self.process([self.programs / "bench/trainyard-bench-data", "bands", self.directory,
                             "--documents", documents, "--copies", copies, "--bucket",
                             documents // 10, "--threads", self.threads])

    def data(self, command, out=None, cores=0):
        """Runs trainyard-data on the first `cores` processors, or on all. Deletes its output unless
        `out` is passed."""
        target = out or self.directory / "out"
        processors = ",".join(str(number) for number in sorted(os.sched_getaffinity(0))[:cores])
        pin = ["taskset", "--cpu-list", processors] if cores else []
        used = self.process([*pin, self.programs / "bin/trainyard-data", *command, "-q", "-o",
                             target])
        if out is None:
            shutil.rmtree(target) if target.is_dir() else target.unlink()
        return used

    def node(self, *arguments):
        return json.loads(self.process(["node", HERE / "peers.mjs", self.packages,
                                        *arguments]).output)

    def python_peer(self, command, text):
        return json.loads(self.process(["python3", HERE / "guide_peer.py", command, text,
                                        self.peer_bytes // 5]).output)

    def has_program(self, name):
        return shutil.which(name) is not None

    def lines_of_mixed(self, size=None):
        """The first bytes of the text, with a line end between documents."""
        path = self.directory / "lines.txt"
        with open(self.mixed, "rb") as file:
            path.write_bytes(file.read(size or self.peer_bytes).rpartition(b"\0")[0]
                             .replace(b"\0", b"\n"))
        return path

    def generated_text(self, size):
        path = self.directory / "generated.txt"
        with open(path, "wb") as file:
            subprocess.run([str(self.programs / "bench/trainyard-bench-data"), "text", "--bytes",
                            str(size)], stdout=file, check=True)
        return path


def machine_text():
    cpu = platform.processor()
    for text in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if text.startswith("model name"):
            cpu = text.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (f"{datetime.date.today()}, {cpu}, {os.cpu_count()} hardware threads, {memory:.0f} GiB, "
            f"load {os.getloadavg()[0]:.1f} at the end")


def load(path):
    return json.loads(path.read_text()) if path.exists() else {}


def measure_rows(bench, options, results_path):
    """Measures the rows that have no result, and stores each one before the next one begins."""
    results = {} if options.again else load(results_path)
    for name in options.rows or ROWS:
        if name in results:
            continue
        print(f"measuring {name}", file=sys.stderr)
        try:
            rows = ROWS[name](bench)
        except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
            print(f"row {name}: {error}", file=sys.stderr)
            continue
        results[name] = [dataclasses.asdict(row) for row in rows]
        results_path.write_text(json.dumps(results, indent=1))
    return results


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="*", choices=ROWS, metavar="ROW",
                        help="only these rows: " + ", ".join(ROWS))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/data_bench",
                        help="directory for texts and results; needs 15 GB")
    parser.add_argument("--packages", type=pathlib.Path,
                        help="directory in which you ran: npm install " + " ".join(PACKAGES))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="small sizes, to try the program")
    parser.add_argument("--again", action="store_true", help="measure rows that have a result")
    return parser.parse_args()


def main():
    options = parse_options()
    bench = Bench(options)
    results_path = bench.directory / ("small.json" if options.small else "full.json")
    results = measure_rows(bench, options, results_path)
    rows = [Figure(**row) for name in ROWS for row in results.get(name, [])]
    print(f"{machine_text()}; {bench.sizes[0] / 1e6:.0f} MB of Debian text, "
          f"{bench.sizes[1] / 1e6:.1f} MB of Chinese and Japanese\n\n{table(rows)}")
    missing = [name for name in options.rows or ROWS if name not in results]
    return f"not measured: {', '.join(missing)}" if missing else 0


if __name__ == "__main__":
    sys.exit(main())
