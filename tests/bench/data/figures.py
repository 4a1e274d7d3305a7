"""Rows of the table: measured figures, what they must reach, and the Markdown text."""
import dataclasses
import statistics


@dataclasses.dataclass
class Figure:
    """One measured figure. Without samples, `note` says why it was not measured."""

    what: str
    unit: str
    samples: list
    # Limits that the figure must reach and aims at; 0 for none. `at_most`: they are maxima.
    must: float = 0
    aim: float = 0
    at_most: bool = False
    note: str = ""

    @property
    def median(self):
        return statistics.median(self.samples) if self.samples else None

    def verdict(self):
        if not self.must or not self.samples:
            return ""
        reaches = (lambda goal: self.median <= goal) if self.at_most else (
            lambda goal: self.median >= goal)
        if not reaches(self.must):
            return "**missed**"
        return "aim" if self.aim and reaches(self.aim) else "must"


def short(value):
    """Three significant digits."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def goal(figure, value):
    return f"{'<=' if figure.at_most else '>='} {short(value)}" if value else ""


def line(figure):
    spread = ""
    if len(figure.samples) > 1:
        spread = f"{short(min(figure.samples))} .. {short(max(figure.samples))}"
    return [f"{figure.what}, {figure.unit}", short(figure.median), spread,
            goal(figure, figure.must), goal(figure, figure.aim), figure.verdict(), figure.note]


def table(figures):
    """The figures as Markdown."""
    head = ["what", "median", "spread", "must", "aim", "reached", "note"]
    lines = [head, ["---"] * len(head)] + [line(figure) for figure in figures]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
