"""The table of tests/gpu/bench.py as Markdown and as JSON."""
import itertools
import json

import predictions
from bench_row import fastest

# Units of rows without a target.
UNITS = {"ratio": "x", "scaling": "x", "forced": "x", "reshard": "x", "tokens": "tokens/s",
         "stall": "% of a step", "start": "s"}


def thousands(number):
    return "-" if number is None else f"{number:,.0f}"


def shown(value, unit):
    """A value or a target in its unit."""
    if value is None:
        return "-"
    return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.3f} {unit}"


def milliseconds(figures):
    low, high = figures["spread_ms"]
    return f"{figures['ms']:.1f} ({low:.1f} .. {high:.1f})"


def markdown(lines):
    """Lines of cells as a Markdown table; the first line is the head."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"
            for line in lines]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def against_peer(entry):
    """Ours to the fastest peer, both in tokens/s."""
    peer = fastest(entry["peers"])
    if not entry["ours"] or not peer:
        return "-"
    return f"{entry['ours']['tokens_per_second'] / peer['tokens_per_second']:.3f}"


def is_measured(entry):
    """True for a row with all figures that were requested: ours, and the value of the row, which
    is a ratio to peers only if peers were to run."""
    needs_value = entry["kind"] != "ratio" or entry.get("compared") != "none"
    return bool(entry["ours"]) and (entry["value"] is not None or not needs_value)


def has_failed(entry):
    """True for a row that was to be measured and was not, or that missed its target."""
    if entry["lacks_gpus"]:
        return False
    return not is_measured(entry) or entry["verdict"] == "MISSED"


def verdict_of(entry):
    """The verdict, which states if a ratio is to one of several peers."""
    is_partial = entry["kind"] == "ratio" and entry.get("compared") == "first"
    return entry["verdict"] + (" (first peer only)" if is_partial else "")


def reached(entry, entries):
    """The verdict; of a row that lacks GPUs also the value of its twin with two GPUs."""
    if not entry["lacks_gpus"]:
        return verdict_of(entry) if is_measured(entry) else "FAILED"
    twin = next((other for other in entries if other["row"] == entry.get("twin")), None)
    if not twin or twin["value"] is None:
        return entry["verdict"]
    return f"not measured; {twin['row']}: {shown(twin['value'], twin['unit'])}, {verdict_of(twin)}"


def row_line(entry, entries):
    peer, unit = fastest(entry["peers"]), entry["unit"]
    return [entry["row"], thousands((entry["ours"] or {}).get("tokens_per_second")),
            thousands(peer["tokens_per_second"]) if peer else "-",
            peer["variant"] if peer else "-", against_peer(entry), shown(entry["value"], unit),
            shown(entry["must"], unit), shown(entry["aim"], unit), reached(entry, entries)]


def first_step(figures):
    """Time from the start of the processes to the end of the first step."""
    seconds = figures.get("first_step_seconds")
    return "-" if seconds is None else f"{seconds:.1f} s"


def run_line(name, who, figures):
    """Figures of one run, ours or a peer's."""
    if "ms" not in figures:
        why = "out of memory" if figures.get("oom") else figures.get("error", "not measured")
        return [name, who, "-", " ".join(why.split()), "-", "-", "-", "-", "-"]
    return [name, who, thousands(figures["tokens_per_second"]), milliseconds(figures),
            str(figures["steps"]), f"{figures['memory_gb']:.1f}", first_step(figures),
            figures["state"], thousands(figures["tokens_per_step"])]


def run_lines(entry):
    ours = [run_line(entry["row"], "ours", entry["ours"])] if entry["ours"] else []
    return ours + [run_line(entry["row"], peer["variant"], peer) for peer in entry["peers"]]


def percent(error):
    return "-" if error is None else f"{100 * error:+.1f} %"


def plan_line(entry):
    """The planner's figures of a row beside the measured ones."""
    plan, ours = entry["predicted"], entry["ours"]
    if "problem" in plan:
        return [entry["row"], " ".join(plan["problem"].split()), "-", "-", "-", "-", "-"]
    return [entry["row"], f"{plan['ms']:.1f}", f"{ours['ms']:.1f}",
            percent(predictions.error_of(entry, "ms")), f"{plan['memory_gb']:.1f}",
            f"{ours['memory_gb']:.1f}", percent(predictions.error_of(entry, "memory_gb"))]


def plan_table(entries):
    """Predictions of the planner; empty without any."""
    planned = [entry for entry in entries if entry.get("predicted") and entry["ours"]]
    if not planned:
        return ""
    means = [predictions.mean_error(planned, figure) for figure in ("ms", "memory_gb")]
    shown_means = ["-" if mean is None else f"{100 * mean:.1f} %" for mean in means]
    head = ["row", "predicted ms", "measured ms", "error", "predicted GB", "measured GB", "error"]
    mean = ["mean of absolute errors", "", "", shown_means[0], "", "", shown_means[1]]
    return markdown([head, *map(plan_line, planned), mean])


def entry_of(result):
    """A result as a JSON object."""
    target = result.row.target
    return {"row": result.row.plan.name, "kind": result.row.value, "value": result.value,
            "unit": target.unit if target else UNITS[result.row.value],
            "must": target.must if target else None, "aim": target.aim if target else None,
            "verdict": result.verdict, "lacks_gpus": result.lacks_gpus, "twin": result.row.twin,
            "ours": result.ours, "peers": result.peers, "predicted": result.predicted,
            "compared": result.compared, "note": result.note}


def completeness(entry):
    """Orders entries of one row: lacks GPUs, has failed, is measured."""
    return 0 if entry["lacks_gpus"] else 1 + is_measured(entry)


def joined(tables):
    """One table of several: the last measurement of each row, in the order of first appearance."""
    entries = {}
    for entry in itertools.chain.from_iterable(table["rows"] for table in tables):
        known = entries.get(entry["row"])
        if known is None or completeness(entry) >= completeness(known):
            entries[entry["row"]] = entry
    machines = [table["machine"] for table in tables]
    return list(entries.values()), {key: "; ".join(machine[key] for machine in machines)
                                    for key in ("date", "gpus")}


def as_markdown(entries, machine):
    """The rows against their targets, all runs behind them, and the planner's predictions."""
    rows = [["row", "ours tok/s", "best peer tok/s", "its variant", "ratio", "value", "must",
             "aim", "reached"]] + [row_line(entry, entries) for entry in entries]
    runs = [["row", "run", "tok/s", "ms a step (p10 .. p90)", "steps", "GB", "first step",
             "state", "tokens a step"]] + [line for entry in entries for line in run_lines(entry)]
    notes = [f"- {entry['row']}: {' '.join(entry['note'].split())}"
             for entry in entries if entry["note"]]
    head = f"{machine['date']}, {machine['gpus'] or 'no GPU'}"
    parts = [head, markdown(rows), markdown(runs), plan_table(entries), "\n".join(notes)]
    return "\n\n".join(filter(None, parts)) + "\n"


def as_json(entries, machine):
    return json.dumps({"machine": machine, "rows": entries}, indent=1)
