"""Tests of count_tests.py."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).with_name("count_tests.py")


def case(status, output):
    return f'<testcase name="a" status="{status}"><system-out>{output}</system-out></testcase>'


def count(expected, *cases):
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory, "report.xml")
        if cases:
            report.write_text(f"<testsuite>{''.join(cases)}</testsuite>", encoding="utf-8")
        done = subprocess.run([sys.executable, PROGRAM, report, str(expected)],
                              capture_output=True, text=True, check=True)
        return done.stdout.strip(), done.stderr.strip()


RUNS_SEVEN = "Note: filter\n[==========] Running 7 tests from 1 test suite.\n"


class CountTests(unittest.TestCase):
    def test_a_program_counts_as_its_tests(self):
        self.assertEqual(count(2, case("run", RUNS_SEVEN), case("run", "other")), ("8 0", ""))

    def test_skipped_tests_do_not_count(self):
        skipped = RUNS_SEVEN + "[  SKIPPED ] 2 tests, listed below:\n"
        self.assertEqual(count(2, case("run", skipped), case("notrun", "")), ("5 0", ""))

    def test_failed_tests_are_those_listed(self):
        failed = RUNS_SEVEN + "[  FAILED  ] 3 tests, listed below:\n"
        self.assertEqual(count(1, case("fail", failed)), ("4 3", ""))

    def test_a_crash_is_a_failed_test(self):
        self.assertEqual(count(1, case("fail", RUNS_SEVEN)), ("6 1", ""))

    def test_tests_that_were_not_started_failed(self):
        self.assertEqual(count(3, case("run", "x")), ("1 2", "2 of 3 tests were not started"))
        self.assertEqual(count(3), ("0 3", "3 of 3 tests were not started"))


if __name__ == "__main__":
    unittest.main()
