"""A job with many children: COUNT processes, for SECONDS. Some leave its session, some clear their
environment as well, and some ignore SIGTERM."""
import os
import signal
import sys
import time

count, seconds = int(sys.argv[1]), float(sys.argv[2])
for number in range(count):
    if os.fork() != 0:
        continue
    if number % 2 == 0:
        os.setsid()
    if number % 3 == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if number % 5 == 0:
        # Ends after 120 s: without its mark and parents, the worker cannot find this process.
        os.execve("/bin/sleep", ["sleep", "120"], {})
    time.sleep(600)
    os._exit(0)
time.sleep(seconds)
