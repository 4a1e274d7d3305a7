#!/usr/bin/env python3
"""Random mutation run: changes the sources of the core folders in one place at a time and counts
how many of the changes the unit tests of the folder notice. README.md says more.

  tests/mutation/run.py                       120 mutations of both core folders
  tests/mutation/run.py --again ALIVE.json    the ones that were alive, after tests were added
"""
import argparse
import json
import pathlib
import random
import sys
import tempfile

import mutations
import score
from scratch import TEST_OF_FOLDER, Scratch, git

HERE = pathlib.Path(__file__).resolve().parent
EQUIVALENT_FILE = HERE / "equivalent.json"


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", action="append", choices=sorted(TEST_OF_FOLDER),
                        help="folder to mutate, repeatable (default: every core folder)")
    parser.add_argument("--count", type=int, default=120, help="number of mutations")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random choice")
    parser.add_argument("--dir", help="folder of the scratch worktree, which is kept; a second "
                                      "run there compiles little (default: a temporary one)")
    parser.add_argument("--jobs", type=int, default=2, help="compiler processes at a time")
    parser.add_argument("--also", action="append", default=[], metavar="TARGET",
                        help="test program that is tried on what the folder's own left alive")
    parser.add_argument("--again", metavar="JSON", help="run the mutations of this list only")
    parser.add_argument("--alive", metavar="JSON", help="file for the list of the mutations that "
                        "are alive (default: build/mutation_alive.json)")
    return parser.parse_args(arguments)


def folder_of(mutation):
    """The folder under test that holds the mutated file, at any depth."""
    own = str(pathlib.PurePosixPath(mutation.path).parent)
    return next((folder for folder in TEST_OF_FOLDER if own.startswith(folder)), own)


def find_all(root, folders):
    """Every mutation of the folders' sources, always in the same order."""
    found = []
    for folder in sorted(folders):
        for path in sorted((root / folder).rglob("*.cpp")):
            text = path.read_text(encoding="utf-8")
            found += mutations.find(path.relative_to(root).as_posix(), text)
    return found


def pick(candidates, count, seed):
    """`count` random mutations in source order, so that each file is restored only once."""
    chosen = random.Random(seed).sample(candidates, min(count, len(candidates)))
    return sorted(chosen, key=lambda mutation: (mutation.path, mutation.offset, mutation.kind))


def choose(options, candidates):
    if options.again:
        entries = json.loads(pathlib.Path(options.again).read_text(encoding="utf-8"))
        return score.select(candidates, entries)
    return pick(candidates, options.count, options.seed)


def known_equivalents():
    """Keys of the mutations that no test can notice."""
    entries = json.loads(EQUIVALENT_FILE.read_text(encoding="utf-8"))
    return {score.key_of(entry) for entry in entries}


def judge(mutation, targets, scratch):
    """Verdict on the mutation that the scratch worktree holds, and the test that decided."""
    for target in targets:
        if not scratch.build(target):
            return score.NOT_COUNTED, "does not compile"
        reason = scratch.test(target)
        if reason is not None:
            return score.KILLED, reason
    return score.ALIVE, ""


def try_mutation(mutation, also, scratch):
    """Judges one mutation and restores its file."""
    original = scratch.read(mutation.path)
    scratch.write(mutation.path, mutation.apply(original))
    try:
        return judge(mutation, [TEST_OF_FOLDER[folder_of(mutation)], *also], scratch)
    finally:
        scratch.write(mutation.path, original)


def check_unchanged(targets, scratch):
    """Exits when the tests fail without a mutation: they would seem to notice everything."""
    for target in targets:
        if not scratch.build(target):
            sys.exit(f"{target} does not compile; see {scratch.directory}/build/mutation.log")
        reason = scratch.test(target)
        if reason is not None:
            sys.exit(f"{target} fails without a mutation: {reason}")


def run(chosen, also, scratch):
    """Tries the mutations one by one; pairs of mutation and verdict."""
    equivalents = known_equivalents()
    results = []
    for number, mutation in enumerate(chosen, 1):
        verdict, reason = try_mutation(mutation, also, scratch)
        if verdict == score.ALIVE and mutation.key() in equivalents:
            verdict = score.EQUIVALENT
        results.append((mutation, verdict))
        print(f"{number}/{len(chosen)} {verdict:<11} {mutation} {reason}".rstrip(), flush=True)
    return results


def report(results, alive_file):
    alive = [mutation for mutation, verdict in results if verdict == score.ALIVE]
    alive_file.parent.mkdir(exist_ok=True)
    alive_file.write_text(score.as_json(alive), encoding="utf-8")
    print()
    print(score.table([(folder_of(mutation), verdict) for mutation, verdict in results]))
    print(f"\n{len(alive)} alive; their list is {alive_file}")


def main(arguments):
    options = parse(arguments)
    repository = pathlib.Path(git(HERE, "rev-parse", "--show-toplevel"))
    scratch = Scratch(options.dir or tempfile.mkdtemp() + "/mutation", options.jobs)
    scratch.check_out(repository)
    try:
        folders = options.folder or sorted(TEST_OF_FOLDER)
        chosen = choose(options, find_all(scratch.directory, folders))
        scratch.configure()
        check_unchanged([*(TEST_OF_FOLDER[folder] for folder in folders), *options.also], scratch)
        alive_file = pathlib.Path(options.alive or repository / "build/mutation_alive.json")
        report(run(chosen, options.also, scratch), alive_file)
    finally:
        if not options.dir:
            scratch.remove(repository)


if __name__ == "__main__":
    main(sys.argv[1:])
