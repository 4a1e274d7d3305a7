"""Counts instructions per byte, and fails if they are more than 5 % above instructions.json.

Usage: instruction_gate.py PROGRAM [--write]. PROGRAM is trainyard-bench-instructions. Exits with 77,
which ctest shows as skipped, if the committed figures belong to another build or other libraries,
or if valgrind is not installed. --write replaces the committed figures.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

FIGURES = pathlib.Path(__file__).resolve().parent / "instructions.json"
TOLERANCE = 0.05
NAMES = ["scan_gpt2", "scan_llama3", "merge", "json"]
SKIPPED = 77
TIMEOUT_S = 120


def run_counted(program, *arguments):
    """The output of the program, and the number of its instructions."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           program, *arguments], capture_output=True, text=True, check=True,
                          timeout=TIMEOUT_S)
    return done.stdout.strip(), int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def instructions_per_byte(program, name):
    """The difference of three passes and one, which excludes start and preparation."""
    size, once = run_counted(program, name, "1")
    _, thrice = run_counted(program, name, "3")
    return (thrice - once) / 2 / int(size)


def complaints(measured, committed):
    """Names whose figure has grown beyond the tolerance."""
    return [f"{name}: {value:.3f} instructions per byte, {value / committed[name] - 1:+.1%} to the "
            f"committed {committed[name]:.3f}; make it faster, or run this with --write and state "
            "the reason in the commit"
            for name, value in measured.items() if value > committed[name] * (1 + TOLERANCE)]


def main(program, *options):
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed; apt-get install valgrind")
        return SKIPPED
    config, _ = run_counted(program, "config")
    committed = json.loads(FIGURES.read_text())
    if "--write" not in options and config != committed["config"]:
        print(f"skipped: the figures are those of\n  {committed['config']}\nbut this is\n  {config}")
        return SKIPPED
    measured = {name: round(instructions_per_byte(program, name), 3) for name in NAMES}
    for name, value in measured.items():
        print(f"{name}: {value:.3f} instructions per byte")
    if "--write" in options:
        FIGURES.write_text(json.dumps({"config": config, "figures": measured}, indent=1) + "\n")
        return 0
    found = complaints(measured, committed["figures"])
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
