"""Expressions that deploy/prometheus and deploy/grafana send to Prometheus, as plain data.

Used by the lint (lint_test.py) and by the test with a live Prometheus (live_test.py). Needs
nothing but the standard library: the rule files keep each `expr:` on one line, which is checked.
"""
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULE_FILES = [
    os.path.join(ROOT, "deploy/prometheus/rules", name) for name in ("recording.yml", "alerts.yml")
]
DASHBOARD_FOLDER = os.path.join(ROOT, "deploy/grafana/dashboards")
GOLDEN_FILES = [
    os.path.join(ROOT, "tests/deploy/golden", name)
    for name in ("controller_metrics.txt", "database_metrics.txt", "worker_metrics.txt")
]
# Series that Prometheus itself creates.
BUILT_IN = {"up", "ALERTS"}


class Rule:
    """A recording or alert rule: its name, its expression, the text of its block."""

    def __init__(self, name, is_alert, expr, text):
        self.name = name
        self.is_alert = is_alert
        self.expr = expr
        self.text = text


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def rules():
    found = []
    for path in RULE_FILES:
        for block in re.split(r"^      - ", read(path), flags=re.M)[1:]:
            kind, name = re.match(r"(record|alert): (\S+)\n", block).groups()
            exprs = re.findall(r"^        expr: (\S.*)$", block, flags=re.M)
            if len(exprs) != 1 or exprs[0] in ("|", ">", "|-", ">-"):
                raise ValueError(f"{path}: {name} needs one expr on one line")
            found.append(Rule(name, kind == "alert", exprs[0], block))
    return found


def dashboards():
    """File name -> parsed dashboard."""
    return {
        name: json.loads(read(os.path.join(DASHBOARD_FOLDER, name)))
        for name in sorted(os.listdir(DASHBOARD_FOLDER))
    }


def panel_expressions(dashboard):
    """(panel title, expression) of every target, annotation and variable of a dashboard."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for annotation in dashboard["annotations"]["list"]:
        yield "annotation " + annotation["name"], annotation["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            inner = re.match(r"label_values\((.*), \w+\)$", variable["query"]["query"])
            yield "variable " + variable["name"], inner.group(1)


def fill_in(expr, values=None):
    """The expression with Grafana's variables filled in; a variable without a value matches all."""
    return re.sub(r"\$(\w+)", lambda match: (values or {}).get(match.group(1), ".*"), expr)


def metrics_of(expr):
    """Names of the series that an expression reads."""
    text = re.sub(r'"(\\.|[^"\\])*"', '""', expr)
    text = re.sub(r"\{[^}]*\}", "", text)
    text = re.sub(r"\[[^\]]*\]", "", text)
    text = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", text)
    text = re.sub(r"\b\d[\w.]*", "", text)
    names = re.findall(r"[a-zA-Z_:][a-zA-Z0-9_:]*(?!\w)(?!\s*\()", text)
    words = {"and", "or", "unless", "offset", "bool", "Inf", "NaN", "by", "without", "on"}
    return {name for name in names if name not in words}


def metrics_of_database_servers():
    """Names of the series that only a controller on PostgreSQL exports."""
    database = [path for path in GOLDEN_FILES if path.endswith("database_metrics.txt")]
    others = [path for path in GOLDEN_FILES if path not in database]
    return set(exported_metrics(database)) - set(exported_metrics(others))


def exported_metrics(files=None):
    """Names of all series that the real exporters write, by the golden pages."""
    names = {}
    for path in files or GOLDEN_FILES:
        for line in read(path).splitlines():
            kind, name, labels = re.match(r"(\w+) (\w+)\{(.*)\}", line).groups()
            for suffix in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
                names[name + suffix] = set(labels.split(",")) - {""}
    return names
