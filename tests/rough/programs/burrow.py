"""A job that makes files without end, or directories in each other."""
import os
import sys
import time

FILES_MAX = 1_000_000
DEEP_MAX = 5_000

if sys.argv[1] == "files":
    for number in range(FILES_MAX):
        try:
            os.close(os.open(f"{number}", os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError:
            time.sleep(0.1)
else:
    for _ in range(DEEP_MAX):
        os.mkdir("down")
        os.chdir("down")
    time.sleep(10)
