"""The table of tests/gpu/bench.py as Markdown and as JSON."""
import json


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


def against_peer(result):
    """Ours to the fastest peer, both in tokens/s."""
    if not result.ours or not result.best_peer:
        return "-"
    return f"{result.ours['tokens_per_second'] / result.best_peer['tokens_per_second']:.3f}"


def row_line(result):
    peer, target = result.best_peer, result.row.target
    ours = result.ours or {}
    rate = ours.get("tokens_per_second")
    return [result.row.plan.name, thousands(rate),
            thousands(peer["tokens_per_second"]) if peer else "-",
            peer["variant"] if peer else "-", against_peer(result),
            shown(result.value, target.unit if target else ""),
            shown(target.must, target.unit) if target else "-",
            shown(target.aim, target.unit) if target else "-", result.verdict]


def first_step(figures):
    """Time from the start of the processes to the end of the first step."""
    seconds = figures.get("first_step_seconds")
    return "-" if seconds is None else f"{seconds:.1f} s"


def run_line(name, who, figures):
    """Figures of one run, ours or a peer's."""
    if "ms" not in figures:
        why = "out of memory" if figures.get("oom") else figures.get("error", "not measured")
        return [name, who, "-", why, "-", "-", "-", "-", "-"]
    return [name, who, thousands(figures["tokens_per_second"]), milliseconds(figures),
            str(figures["steps"]), f"{figures['memory_gb']:.1f}", first_step(figures),
            figures["state"], thousands(figures["tokens_per_step"])]


def run_lines(result):
    name = result.row.plan.name
    ours = [run_line(name, "ours", result.ours)] if result.ours else []
    return ours + [run_line(name, peer["variant"], peer) for peer in result.peers]


def as_markdown(results, machine):
    """Two tables: the rows against their targets, and all runs behind them."""
    rows = [["row", "ours tok/s", "best peer tok/s", "its variant", "ratio", "value", "must",
             "aim", "reached"]] + [row_line(result) for result in results]
    runs = [["row", "run", "tok/s", "ms a step (p10 .. p90)", "steps", "GB", "first step",
             "state", "tokens a step"]] + [line for result in results for line in run_lines(result)]
    notes = [f"- {result.row.plan.name}: {' '.join(result.note.split())}"
             for result in results if result.note]
    head = f"{machine['date']}, {machine['gpus'] or 'no GPU'}"
    parts = [head, markdown(rows), markdown(runs), "\n".join(notes)]
    return "\n\n".join(filter(None, parts)) + "\n"


def as_json(results, machine):
    return json.dumps({"machine": machine, "rows": [
        {"row": result.row.plan.name, "kind": result.row.value, "value": result.value,
         "unit": result.row.target.unit if result.row.target else "tokens/s",
         "must": result.row.target.must if result.row.target else None,
         "aim": result.row.target.aim if result.row.target else None,
         "verdict": result.verdict, "ours": result.ours, "peers": result.peers,
         "note": result.note} for result in results]}, indent=1)
