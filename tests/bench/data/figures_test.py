"""Tests figures.py."""
import unittest

from figures import Figure, table


class FiguresTest(unittest.TestCase):
    def test_the_median_decides(self):
        self.assertEqual(Figure("a", "MB/s", [1, 100, 120], 100, 150).verdict(), "must")
        self.assertEqual(Figure("a", "MB/s", [200, 150, 1], 100, 150).verdict(), "aim")
        self.assertEqual(Figure("a", "MB/s", [99, 98, 500], 100, 150).verdict(), "**missed**")

    def test_smaller_is_better_where_the_goal_is_a_maximum(self):
        self.assertEqual(Figure("a", "s", [0.3], 0.3, 0.05, at_most=True).verdict(), "must")
        self.assertEqual(Figure("a", "s", [0.31], 0.3, 0.05, at_most=True).verdict(), "**missed**")

    def test_rows_without_a_goal_or_without_samples_have_no_verdict(self):
        self.assertEqual(Figure("a", "s", [1.0]).verdict(), "")
        self.assertEqual(Figure("a", "s", [], 1.0, note="not measured").verdict(), "")

    def test_the_table_shows_notes_and_the_spread(self):
        lines = table([Figure("a", "MB/s", [1, 2, 3000], 100, 150, note="x")]).split("\n")
        self.assertEqual(
            lines[2], "| a, MB/s | 2 | 1 .. 3,000 | >= 100 | >= 150 | **missed** | x |")


if __name__ == "__main__":
    unittest.main()
