"""A job that writes 2 MB/s of records: checkpoints, their deletions, alerts and losses."""
import os
import time

telemetry = os.open(os.environ["TRAINYARD_TELEMETRY"], os.O_WRONLY | os.O_CREAT | os.O_APPEND,
                    0o600)
begin, written, step = time.monotonic(), 0, 0
while True:
    lines = []
    for step in range(step + 1, step + 251):
        lines.append(f'{{"type":"checkpoint","step":{step},"path":"/ck/{step}","bytes":1}}\n'
                     f'{{"type":"checkpoint","step":{step - 3},"deleted":true}}\n'
                     f'{{"type":"alert","step":{step},"code":"noise","message":"{step}"}}\n'
                     f'{{"type":"metrics","step":{step},"loss":{step % 2 * 1e6 or "NaN"}}}\n')
    chunk = "".join(lines).encode()
    try:
        os.write(telemetry, chunk)
    except OSError:
        pass
    written += len(chunk)
    time.sleep(max(0, begin + written / 2e6 - time.monotonic()))
