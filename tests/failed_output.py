#!/usr/bin/env python3
"""Prints the end of what each failed test of a ctest report wrote: failed_output.py REPORT.xml

Printed last, so that it survives whoever cuts the middle out of a long output."""
import sys
import xml.etree.ElementTree as ElementTree

MAX_TESTS = 8
MAX_LINES = 60

report = ElementTree.parse(sys.argv[1]).getroot()
failed = [case for case in report.iter("testcase") if case.get("status") == "fail"]
for case in failed[:MAX_TESTS]:
    lines = (case.findtext("system-out") or "").rstrip().splitlines()
    print(f"== {case.get('name')}: the last {min(len(lines), MAX_LINES)} of {len(lines)} lines")
    print("\n".join(lines[-MAX_LINES:]))
if len(failed) > MAX_TESTS:
    print(f"== {len(failed) - MAX_TESTS} more tests failed: see {sys.argv[1]}")
