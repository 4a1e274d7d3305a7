"""The loop of a training program: small, but with the output, files and exits of the program whose
recipe it tests. It needs only Python."""
import os
import signal
import socket
import sys
import time

STEPS = int(os.environ.get("TEST_STEPS", "1000000"))
SAVE_EVERY = int(os.environ.get("TEST_SAVE_EVERY", "100"))
STEP_SECONDS = 0.02


def loss_of(step):
    return 4 - 3 * step / (step + 100)


def rank():
    return int(os.environ.get("RANK", "0"))


def is_last_rank():
    return rank() == int(os.environ.get("WORLD_SIZE", "1")) - 1


def write_atomically(path, text):
    temporary = f"{path}.tmp"
    with open(temporary, "w") as file:
        file.write(text)
    os.rename(temporary, path)


class Peers:
    """Keeps the ranks of a program at the same step, as the all-reduce of a real program does."""

    def __init__(self):
        world = int(os.environ.get("WORLD_SIZE", "1"))
        if rank() == 0:
            with socket.create_server(("", int(os.environ.get("MASTER_PORT", "0")))) as server:
                self.connections = [server.accept()[0] for _ in range(world - 1)]
        else:
            self.connections = [self.connect()]

    @staticmethod
    def connect():
        address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        for _ in range(600):
            try:
                return socket.create_connection(address)
            except ConnectionRefusedError:  # Rank 0 does not listen yet.
                time.sleep(0.1)
        sys.exit(f"rank 0 does not listen on {address}")

    def any_stops(self, stops):
        """Waits for the other ranks. Returns whether any rank stops, the same on every rank."""
        if rank() == 0:
            stops = any([self.receive(one) for one in self.connections] + [stops])
        for connection in self.connections:
            connection.sendall(b"1" if stops else b"0")
        return stops if rank() == 0 else self.receive(self.connections[0])

    @staticmethod
    def receive(connection):
        answer = connection.recv(1)
        if not answer:
            raise ConnectionError("a rank has ended")
        return answer == b"1"


def wait_for_end(stopped):
    """Waits like a rank whose peer is gone: until the worker ends it."""
    while not stopped:
        time.sleep(0.1)
    sys.exit(143)


def run(start, show, save, saves_on_stop=True):
    """Trains from the step after `start`. `show(step)` prints, on every rank; `save(step)` writes a
    checkpoint, on rank 0 only."""
    stopped = []
    if saves_on_stop:
        signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    peers = Peers()
    for step in range(start + 1, STEPS + 1):
        time.sleep(STEP_SECONDS)
        try:
            stops = peers.any_stops(bool(stopped))
        except ConnectionError:
            wait_for_end(stopped)
        show(step)
        sys.stdout.flush()
        if rank() == 0 and (step % SAVE_EVERY == 0 or stops or step == STEPS):
            save(step)
        if stops:
            sys.exit(143)
