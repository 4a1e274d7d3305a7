"""The guide's filter, all signals and the guide's MinHash in Python. Prints a line of JSON.

Usage: guide_peer.py filter|signals|sign FILE BYTES. The documents of FILE are separated by NUL.
"""
import hashlib
import json
import pathlib
import sys
import time

try:
    import numpy
except ImportError:
    numpy = None

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "data" / "filter"))
import reference  # noqa: E402

PRIME = (1 << 61) - 1
# Multipliers and offsets of 128 hash functions. Their values do not change the speed.
FACTORS = [(i * 0x9E3779B97F4A7C15 + 1) % PRIME for i in range(1, 129)]
OFFSETS = [(i * 0xBF58476D1CE4E5B9 + 7) % PRIME for i in range(1, 129)]


def read_documents(path, limit):
    with open(path, "rb") as file:
        documents = file.read(limit).split(b"\0")
    return [document.decode(errors="ignore") for document in documents if document]


def sign_with_numpy(shingles):
    """Datasketch's loop."""
    factors = numpy.array(FACTORS, dtype=numpy.uint64)
    offsets = numpy.array(OFFSETS, dtype=numpy.uint64)
    values = numpy.full(128, 0xFFFFFFFF, dtype=numpy.uint64)
    for shingle in shingles:
        number = int.from_bytes(hashlib.sha1(shingle.encode()).digest()[:4], "little")
        hashes = (factors * numpy.uint64(number) + offsets) % numpy.uint64(PRIME)
        values = numpy.minimum(values, hashes & numpy.uint64(0xFFFFFFFF))
    return values


def sign_without_numpy(shingles):
    values = [0xFFFFFFFF] * 128
    for shingle in shingles:
        number = int.from_bytes(hashlib.sha1(shingle.encode()).digest()[:4], "little")
        values = [min(value, (a * number + b) % PRIME & 0xFFFFFFFF)
                  for value, a, b in zip(values, FACTORS, OFFSETS)]
    return values


def sign(documents):
    signature = sign_with_numpy if numpy else sign_without_numpy
    for document in documents:
        words = document.lower().split()
        signature([" ".join(words[i:i + 13]) for i in range(len(words) - 12)])


def filter_all(documents):
    for document in documents:
        reference.filter_document(document, reference.DocumentFilter())


def measure_all(documents):
    for document in documents:
        reference.measure(document)


def main(command, path, limit):
    documents = read_documents(path, int(limit))
    begin = time.process_time()
    {"filter": filter_all, "signals": measure_all, "sign": sign}[command](documents)
    seconds = time.process_time() - begin
    print(json.dumps({"bytes": sum(len(document.encode()) for document in documents),
                      "seconds": seconds, "numpy": numpy is not None}))


main(*sys.argv[1:])
