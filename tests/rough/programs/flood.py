"""A job that writes as fast as it can: into its telemetry, its output or its directory."""
import os
import sys

LINE = b"x" * 4000 + b"\n"

where = {"telemetry": os.environ["TRAINYARD_TELEMETRY"], "output": "/dev/stdout",
         "directory": "heap"}[sys.argv[1]]
file = os.open(where, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
while True:
    try:
        os.write(file, LINE * 64)
    except OSError:
        pass
