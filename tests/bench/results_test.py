"""The check that benchmarks are held to: what it lets pass and what it does not."""
import json
import pathlib
import unittest

import results

RANGES = json.loads((pathlib.Path(__file__).parent / "ranges.json").read_text())


def row(name, value, ratio=True):
    return results.Row(name, "x", [value, value * 0.9, value * 1.1], ratio=ratio)


class Check(unittest.TestCase):
    def test_rows_within_their_range_pass(self):
        rows = [row(name, kept["value"]) for name, kept in RANGES.items()]
        self.assertTrue(rows)
        self.assertEqual(results.check(rows, RANGES), [])

    def test_a_fifth_worse_is_told(self):
        for name, kept in RANGES.items():
            slower = 1.25 if kept["better"] == "lower" else 1 / 1.25
            complaints = results.check([row(name, kept["value"] * slower)], RANGES)
            self.assertEqual(len(complaints), 1)
            self.assertIn(f"{name}: ", complaints[0])
            self.assertIn("25 % worse", complaints[0])

    def test_lower_is_better_where_the_range_says_so(self):
        ranges = {"a.b": {"value": 10, "better": "lower"}}
        self.assertEqual(results.check([row("a.b", 8)], ranges), [])
        self.assertEqual(len(results.check([row("a.b", 12.5)], ranges)), 1)

    def test_a_ratio_without_a_range_is_told(self):
        self.assertIn("no range", results.check([row("new.ratio", 2)], RANGES)[0])

    def test_absolute_and_unmeasured_rows_are_not_compared(self):
        self.assertEqual(results.check([row("submit.loop", 1, ratio=False)], {}), [])
        unmeasured = results.Row("trainer.ratio", "x", [], ratio=True, note="no trainer")
        self.assertEqual(results.check([unmeasured], RANGES), [])


if __name__ == "__main__":
    unittest.main()
