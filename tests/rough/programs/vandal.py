"""A job that destroys what lies in its working directory, and leaves traps there."""
import os
import shutil
import sys
import time

for name in os.listdir("."):
    shutil.rmtree(name, ignore_errors=True)
    if os.path.lexists(name):
        os.remove(name)
for name in ("output.log", "exit.json", "shim.json", "start.pb", "telemetry.jsonl"):
    os.mkfifo(name)
time.sleep(float(sys.argv[1]))
