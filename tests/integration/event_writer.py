"""A program whose metrics are only in a TensorBoard event file: one step each 20 ms, as SummaryWriter
writes them. Needs only Python.

usage: event_writer.py DIRECTORY FIRST LAST EXIT_CODE
"""
import os
import struct
import sys
import time


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def field(number, data):
    """A length-delimited field of a protobuf message below 128 bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


def event(step, tag, value):
    scalar = field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)
    assert step < 128, "a step of one byte"
    return b"\x09" + struct.pack("<d", time.time()) + b"\x10" + bytes([step]) + field(
        5, field(1, scalar))


def main():
    directory, first, last, code = sys.argv[1], *map(int, sys.argv[2:])
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, f"events.out.tfevents.{time.time():.0f}.host.{os.getpid()}.0")
    with open(path, "wb") as file:
        for step in range(first, last + 1):
            # The whole program writes as SummaryWriter does: buffered, and flushed at times.
            file.write(record(event(step, "train/loss", 4 / step)))
            file.write(record(event(step, "learning-rate", 0.5)))
            if step % 3 == 0:
                file.flush()
            time.sleep(0.02)
    sys.exit(code)


main()
