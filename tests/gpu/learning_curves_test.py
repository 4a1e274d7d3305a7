"""The order of samples and the verdict of tests/gpu/learning_curves.py, without a GPU."""
import math
import pathlib
import tempfile
import unittest

from learning_curves import FACTOR, FLOOR, Comparison, Samples, permute_index
from trainer_run import write_token_file


class Order(unittest.TestCase):
    def test_it_is_that_of_the_trainer(self):
        # As PermuteIndexTest.NeverChanges has it.
        self.assertEqual([permute_index(1234, 0, 1000, i) for i in range(8)],
                         [704, 565, 719, 166, 243, 604, 979, 949])

    def test_every_data_epoch_has_all_windows(self):
        for epoch in (0, 1):
            windows = sorted(permute_index(7, epoch, 301, i) for i in range(301))
            self.assertEqual(windows, list(range(301)))

    def test_a_sample_has_the_first_token_of_the_next_window(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder)
            write_token_file(directory, "train", 70000, list(range(41)))
            samples = Samples(directory, 4)
            self.assertEqual(samples.windows, 10)
            for row in samples.batch(2, 8):
                self.assertEqual(row, list(range(row[0], row[0] + 5)))
                self.assertEqual(row[0] % 4, 0)


class Verdict(unittest.TestCase):
    def test_a_distance_within_that_of_pytorchs_runs_passes(self):
        torch = [3.0] * 100
        drifting = [3.0 + 1e-4 * step for step in range(100)]
        ours = [3.0 - 2e-4 * step for step in range(100)]
        self.assertEqual(Comparison(ours, torch, drifting, torch).outside, [])
        self.assertEqual(Comparison(ours, torch, torch, drifting).outside, [])

    def test_a_larger_one_fails_at_its_step(self):
        torch = [3.0] * 100
        ours = [3.0] * 60 + [3.0 + FLOOR * 1.01] * 40
        self.assertEqual(Comparison(ours, torch, torch, torch).outside[0], 61)
        perturbed = [3.0 + FLOOR] * 100
        self.assertEqual(Comparison(ours, torch, perturbed, torch).outside, [])
        self.assertGreater(FACTOR, 1)

    def test_a_loss_that_is_no_number_fails(self):
        good, bad = [3.0] * 3, [3.0, math.nan, 3.0]
        self.assertEqual(Comparison(bad, good, good, good).outside, [2, 3])
        self.assertEqual(Comparison(good, bad, good, good).outside, [2, 3])
        self.assertEqual(Comparison(good, good, good, bad).outside, [2, 3])


if __name__ == "__main__":
    unittest.main()
