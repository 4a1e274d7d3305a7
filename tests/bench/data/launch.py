"""Runs a program and writes its CPU time and memory as JSON to a file descriptor.

Usage: launch.py DESCRIPTOR PROGRAM ARGUMENT...

A process starts with the peak memory of the process that started it. This one is small, so that
the figure is the program's own.
"""
import json
import os
import sys

child = os.fork()
if child == 0:
    os.close(int(sys.argv[1]))
    try:
        os.execvp(sys.argv[2], sys.argv[2:])
    except OSError as error:
        print(f"{sys.argv[2]}: {error}", file=sys.stderr)
        os._exit(127)
_, status, used = os.wait4(child, 0)
os.write(int(sys.argv[1]), json.dumps({
    "cpu": used.ru_utime + used.ru_stime, "rss": used.ru_maxrss * 1024}).encode())
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
