"""Tests instruction_gate.py."""
import json
import unittest

from instruction_gate import FIGURES, NAMES, complaints


class InstructionGateTest(unittest.TestCase):
    def test_growth_of_more_than_five_percent_is_reported(self):
        self.assertEqual(complaints({"scan": 10.5}, {"scan": 10.0}), [])
        found = complaints({"scan": 10.6, "merge": 1.0}, {"scan": 10.0, "merge": 20.0})
        self.assertEqual(len(found), 1)
        self.assertIn("scan: 10.600 instructions per byte, +6.0%", found[0])

    def test_the_committed_figures_are_complete(self):
        committed = json.loads(FIGURES.read_text())
        self.assertEqual(sorted(committed["figures"]), sorted(NAMES))
        self.assertTrue(all(value > 0 for value in committed["figures"].values()))


if __name__ == "__main__":
    unittest.main()
