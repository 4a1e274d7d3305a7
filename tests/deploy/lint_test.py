"""Lint of dashboards, recording rules and alerts against what the exporters really write."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import observability as obs

SEVERITIES = {"page", "warning", "info"}
README = obs.read(os.path.join(obs.ROOT, "deploy/prometheus/README.md"))


def promtool(*arguments):
    result = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout + result.stderr


class RulesTest(unittest.TestCase):

    def test_rules_are_valid(self):
        code, output = promtool("check", "rules", *obs.RULE_FILES)
        self.assertEqual(code, 0, output)
        counted = sum(int(number) for number in re.findall(r"(\d+) rules found", output))
        self.assertEqual(counted, len(obs.rules()), "the lint does not see every rule")

    def test_unit_tests_pass(self):
        folder = os.path.join(obs.ROOT, "deploy/prometheus/tests")
        files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        code, output = promtool("test", "rules", *files)
        self.assertEqual(code, 0, output)

    def test_scrape_configuration_is_valid(self):
        path = os.path.join(obs.ROOT, "deploy/prometheus/prometheus.yml")
        code, output = promtool("check", "config", path)
        self.assertEqual(code, 0, output)

    def test_each_alert_has_a_test_that_fires_and_one_that_does_not(self):
        text = obs.read(os.path.join(obs.ROOT, "deploy/prometheus/tests/alerts_test.yml"))
        for rule in obs.rules():
            if not rule.is_alert:
                continue
            quiet = re.findall(rf"alertname: {rule.name}, exp_alerts: \[\]", text)
            fires = re.findall(rf"alertname: {rule.name}\n\s+exp_alerts:\n\s+- exp_labels", text)
            self.assertTrue(quiet, f"{rule.name}: no case that stays quiet")
            self.assertTrue(fires, f"{rule.name}: no case that fires")

    def test_each_alert_says_what_to_do(self):
        for rule in obs.rules():
            if not rule.is_alert:
                continue
            severity = re.search(r"labels: \{severity: (\w+)\}", rule.text)
            self.assertIn(severity and severity.group(1), SEVERITIES, rule.name)
            self.assertRegex(rule.text, r"\n          summary: \S", rule.name)
            anchor = re.search(r"\n          runbook_url: \S+#(\w+)\n", rule.text)
            self.assertEqual(anchor and anchor.group(1), rule.name.lower(), rule.name)
            self.assertIn(f"### {rule.name}\n", README, "no section in the runbook")
            if "$labels.job_id" in rule.text:
                self.assertIn("job_url:", rule.text, rule.name)

    def test_the_runbook_has_no_section_too_many(self):
        alerts = {rule.name for rule in obs.rules() if rule.is_alert}
        self.assertEqual(set(re.findall(r"^### (Trainyard\w+)$", README, flags=re.M)), alerts)


class DashboardsTest(unittest.TestCase):

    def test_all_four_are_there_and_stable(self):
        uids = {board["uid"]: board["title"] for board in obs.dashboards().values()}
        self.assertEqual(
            uids, {
                "trainyard-cluster": "Trainyard / Cluster",
                "trainyard-job": "Trainyard / Job",
                "trainyard-controller": "Trainyard / Controller",
                "trainyard-gpu": "Trainyard / GPU health",
            })

    def test_no_data_source_is_fixed(self):
        for name, board in obs.dashboards().items():
            variables = [variable["name"] for variable in board["templating"]["list"]]
            self.assertEqual(variables[0], "datasource", name)
            self.assertFalse(board["editable"], name)
            for panel in board["panels"]:
                sources = [panel["datasource"]] if "datasource" in panel else []
                sources += [target["datasource"] for target in panel.get("targets", [])]
                for source in sources:
                    self.assertEqual(source["uid"], "${datasource}", f"{name}: {panel['title']}")

    def test_panels_have_ids_units_and_room_of_their_own(self):
        for name, board in obs.dashboards().items():
            ids = [panel["id"] for panel in board["panels"]]
            self.assertEqual(len(ids), len(set(ids)), name)
            taken = set()
            for panel in board["panels"]:
                place = panel["gridPos"]
                self.assertLessEqual(place["x"] + place["w"], 24, f"{name}: {panel['title']}")
                cells = {(x, y)
                         for x in range(place["x"], place["x"] + place["w"])
                         for y in range(place["y"], place["y"] + place["h"])}
                self.assertFalse(cells & taken, f"{name}: {panel['title']} lies on another panel")
                taken |= cells

    def test_variables_that_are_used_exist(self):
        for name, board in obs.dashboards().items():
            known = {variable["name"] for variable in board["templating"]["list"]}
            for title, expr in obs.panel_expressions(board):
                used = set(re.findall(r"\$(\w+)", expr))
                self.assertLessEqual(used, known, f"{name}: {title}")

    def test_links_lead_to_dashboards_that_exist(self):
        boards = obs.dashboards()
        uids = {board["uid"] for board in boards.values()}
        for name in boards:
            text = obs.read(os.path.join(obs.DASHBOARD_FOLDER, name))
            for uid in re.findall(r'"/d/([\w-]+)', text):
                self.assertIn(uid, uids, name)
            self.assertIn('"${trainyard_url}/', text, f"{name} has no link to our pages")


class ExpressionsTest(unittest.TestCase):

    def every_expression(self):
        for rule in obs.rules():
            yield rule.name, rule.expr
        for name, board in obs.dashboards().items():
            for title, expr in obs.panel_expressions(board):
                yield f"{name}: {title}", obs.fill_in(expr)

    def test_every_expression_parses(self):
        lines = ["groups:", "- name: all", "  rules:"]
        for where, expr in self.every_expression():
            quoted = expr.replace("'", "''")
            lines += [f"  - record: a:b # {where}", f"    expr: '{quoted}'"]
        # promtool would report rules with equal names and no labels as duplicates.
        for number, at in enumerate(range(3, len(lines), 2)):
            lines[at] = lines[at].replace("a:b", f"a:b{number}")
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            code, output = promtool("check", "rules", file.name)
        self.assertEqual(code, 0, output)

    def test_every_metric_is_exported(self):
        exported = obs.exported_metrics()
        self.assertGreater(len(exported), 80)
        recorded = {rule.name for rule in obs.rules() if not rule.is_alert}
        for where, expr in self.every_expression():
            names = obs.metrics_of(expr)
            self.assertTrue(names, f"{where}: no metric found in {expr}")
            unknown = names - set(exported) - recorded - obs.BUILT_IN
            self.assertFalse(unknown, f"{where}: {expr}")

    def test_every_label_that_is_matched_is_exported(self):
        exported = obs.exported_metrics()
        of_prometheus = {"job", "instance", "le", "__name__"}
        for where, expr in self.every_expression():
            for name, matchers in re.findall(r"([a-zA-Z_:]\w*)\{([^}]*)\}", expr):
                labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers))
                if name in exported:
                    self.assertLessEqual(labels, exported[name] | of_prometheus, f"{where}: {expr}")

    def test_every_metric_of_ours_is_used_somewhere(self):
        used = set()
        for _, expr in self.every_expression():
            used |= obs.metrics_of(expr)
        unused = {
            name for name in obs.exported_metrics()
            if name.startswith("trainyard_") and name not in used and
            not name.endswith(("_bucket", "_sum", "_count"))
        }
        self.assertFalse(unused, "exported, but on no dashboard and in no rule")

    def test_the_finder_of_metrics_sees_what_it_must(self):
        self.assertEqual(
            obs.metrics_of('sum by (a) (rate(b_total{c="d{e}"}[5m])) / on (f) g > 5e9 and h offset 5m'),
            {"b_total", "g", "h"})
        self.assertEqual(obs.metrics_of("x:y:z unless absent(w)"), {"x:y:z", "w"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
