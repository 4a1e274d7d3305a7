"""Results of a mutation run: their table, their score and the mutations that no test noticed."""
import collections
import json

KILLED, ALIVE, EQUIVALENT, NOT_COUNTED = "killed", "alive", "equivalent", "not counted"
VERDICTS = (KILLED, ALIVE, EQUIVALENT, NOT_COUNTED)


def score(counts):
    """Killed mutations per counted one, or None when none was counted."""
    counted = counts[KILLED] + counts[ALIVE]
    return counts[KILLED] / counted if counted else None


def _cells(name, counts):
    share = score(counts)
    percent = "-" if share is None else f"{100 * share:.1f} %"
    return [name, *(str(counts[verdict]) for verdict in VERDICTS), percent]


def table(results):
    """Counts and score by folder, as Markdown; `results` are pairs of folder and verdict."""
    by_folder = collections.defaultdict(collections.Counter)
    for folder, verdict in results:
        by_folder[folder][verdict] += 1
        by_folder["all"][verdict] += 1
    names = sorted(name for name in by_folder if name != "all") + ["all"]
    lines = [["folder", *VERDICTS, "score"]]
    lines += [_cells(name, by_folder[name]) for name in names]
    text = ["| " + " | ".join(line) + " |" for line in lines]
    text.insert(1, "|" + "---|" * len(lines[0]))
    return "\n".join(text)


def as_json(mutations):
    """Mutations for `run.py --again`: each with its place and change."""
    fields = ("path", "line", "source", "column", "kind", "before", "after")
    entries = [{name: getattr(mutation, name) for name in fields} for mutation in mutations]
    return json.dumps(entries, indent=1) + "\n"


def key_of(entry):
    """The same key as Mutation.key(), of an entry in JSON."""
    return tuple(entry[name] for name in ("path", "source", "column", "before", "after"))


def select(mutations, entries):
    """The mutations that the entries of a JSON list name; an entry that fits none is an error."""
    wanted = {key_of(entry) for entry in entries}
    found = [mutation for mutation in mutations if mutation.key() in wanted]
    missing = wanted - {mutation.key() for mutation in found}
    if missing:
        raise ValueError(f"no such mutation any more: {sorted(missing)[0]}")
    return found
