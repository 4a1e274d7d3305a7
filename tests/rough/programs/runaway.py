"""A job with a child that leaves its session and outlives it, and that no signal but KILL ends."""
import os
import signal
import sys
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(3600)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(float(sys.argv[1]))
