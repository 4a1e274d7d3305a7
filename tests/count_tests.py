#!/usr/bin/env python3
"""Prints the numbers of passed and of failed tests: count_tests.py REPORT.xml EXPECTED

REPORT.xml is ctest's JUnit report. EXPECTED is ctest's number of tests. Tests missing from the
report count as failed. For a GoogleTest program, each test that it ran counts. Skipped tests do not
count."""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


def number(pattern, text, otherwise):
    found = re.search(pattern, text, re.MULTILINE)
    return int(found[1]) if found else otherwise


def count(case):
    """Returns how many tests of a case of the report passed and failed."""
    output = case.findtext("system-out") or ""
    ran = number(r"^\[=+\] Running (\d+) tests? from", output, 1)
    # GoogleTest lists what it skipped. A test of another program is skipped as a whole.
    skipped = number(r"^\[  SKIPPED \] (\d+) tests?, listed below", output,
                     1 if case.get("status") in ("notrun", "disabled") else 0)
    # A program that crashes or runs too long lists no failed tests.
    bad = 0 if case.get("status") != "fail" else number(
        r"^\[  FAILED  \] (\d+) tests?, listed below", output, 1)
    return max(ran - skipped - bad, 0), bad


path, expected = sys.argv[1], int(sys.argv[2])
cases = list(ElementTree.parse(path).getroot().iter("testcase")) if os.path.exists(path) else []
counts = [count(case) for case in cases]
missing = max(expected - len(cases), 0)
if missing:
    print(f"{missing} of {expected} tests were not started", file=sys.stderr)
print(sum(good for good, _ in counts), sum(bad for _, bad in counts) + missing)
