"""Rows of the table: their fields, their printing, and their comparison with ranges.json."""
import dataclasses
import json
import statistics

# A ratio row may be worse than its range by this much.
TOLERANCE = 0.20


@dataclasses.dataclass
class Row:
    """One measured figure. Without samples it says in `note` why it could not be measured."""

    name: str
    unit: str
    samples: list
    # Target of ARCHITECTURE.md section 7: the text, and (">=" or "<=", number) if it is a number.
    promised: str = ""
    bound: tuple = ()
    note: str = ""
    # A ratio of our figure to a reference of the same run, comparable across machines.
    ratio: bool = False

    @property
    def median(self):
        return statistics.median(self.samples) if self.samples else None

    def verdict(self):
        if not self.bound or not self.samples:
            return ""
        sign, number = self.bound
        kept = self.median >= number if sign == ">=" else self.median <= number
        return "kept" if kept else "MISSED"


def promise(sign, number, text=""):
    """Arguments of a row whose promise is one number."""
    return {"promised": text or f"{sign} {short(number)}", "bound": (sign, number)}


def short(value):
    """Three significant digits, with thousands separated."""
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(rows):
    """The rows as Markdown."""
    lines = [["row", "promised", "median", "spread", "unit", "n", ""]]
    for row in rows:
        spread = f"{short(min(row.samples))} .. {short(max(row.samples))}" if row.samples else "-"
        lines.append([row.name, row.promised or "-", short(row.median), spread, row.unit,
                      str(len(row.samples)), row.verdict()])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"
            for line in lines]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    notes = [f"- {row.name}: {row.note}" for row in rows if row.note]
    return "\n".join(text + [""] + notes)


def as_json(rows, machine):
    return json.dumps({
        "machine": machine,
        "rows": [{"name": row.name, "unit": row.unit, "promised": row.promised,
                  "median": row.median, "samples": row.samples, "ratio": row.ratio,
                  "verdict": row.verdict(), "note": row.note} for row in rows],
    }, indent=1)


def worse_than(row, expected):
    """Fraction by which the row is worse than its range; negative when it is better."""
    if expected["better"] == "higher":
        return expected["value"] / row.median - 1
    return row.median / expected["value"] - 1


def check(rows, ranges):
    """Complaints on ratio rows that are worse than their range, or have none."""
    complaints = []
    for row in rows:
        if not row.ratio or not row.samples:
            continue
        expected = ranges.get(row.name)
        if expected is None:
            complaints.append(f"{row.name}: no range in ranges.json; it is {short(row.median)} now")
        elif worse_than(row, expected) > TOLERANCE:
            complaints.append(
                f"{row.name}: {short(row.median)} is {100 * worse_than(row, expected):.0f} % worse "
                f"than {short(expected['value'])} ({TOLERANCE:.0%} are allowed)")
    return complaints
