"""Prints the verdict of the guide's filter and all signals of the texts in a file.

Usage: reference.py FILE NAMES, which are names of signals joined by commas. Each text is its length in bytes in decimal, LF, and its UTF-8. Each line
of output is "skip", or 0 or 1 (kept) and the signals in that order, separated by tabs.
"""

import collections
import dataclasses
import re
import string
import sys
import unicodedata


@dataclasses.dataclass
class DocumentFilter:
    min_tokens: int = 50
    max_tokens: int = 100000
    min_avg_word_length: float = 3.0
    max_symbol_ratio: float = 0.1
    min_alpha_ratio: float = 0.7


def filter_document(text, config):
    """The guide's own code."""
    tokens = text.split()
    token_count = len(tokens)

    if not (config.min_tokens <= token_count <= config.max_tokens):
        return None

    avg_word_len = sum(len(t) for t in tokens) / token_count
    if avg_word_len < config.min_avg_word_length:
        return None

    alpha_chars = sum(1 for c in text if c.isalpha())
    if alpha_chars / len(text) < config.min_alpha_ratio:
        return None
    return text


def ratio(part, whole):
    return part / whole if whole else 0.0


def duplicates(parts):
    """Fraction of parts that occurred earlier, and their parts."""
    seen = set()
    repeated = []
    for part in parts:
        if part in seen:
            repeated.append(part)
        seen.add(part)
    return ratio(len(repeated), len(parts)), repeated


def characters(parts):
    return sum(len(part) for part in parts)


def top_gram(words, n):
    grams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
    if not grams:
        return 0
    gram, count = collections.Counter(grams).most_common(1)[0]
    return len(" ".join(gram)) * count


def duplicate_grams(words, n):
    seen = set()
    total = i = 0
    while i + n <= len(words):
        gram = tuple(words[i : i + n])
        if gram in seen:
            total += characters(gram)
            i += n
        else:
            seen.add(gram)
            i += 1
    return total


def sentences(text):
    parts = re.split(r"\n|(?<=[.!?])(?=[\"')\]\u2019\u201d]*(?:\s|$))", text)
    return sum(any(unicodedata.category(c)[0] in "LN" for c in part) for part in parts)


def without_punctuation(text):
    bare = text.translate(str.maketrans("", "", string.punctuation))
    return len(re.sub(r"\s+", " ", bare.strip()))


def line_form(text):
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    full = [line for line in lines if line.strip()]
    starts = sum(line.strip().startswith(("-", "\u2022")) for line in lines)
    ends = sum(line.strip().endswith(("...", "\u2026")) for line in lines)
    return {
        "bullet_lines": ratio(starts, len(lines)),
        "ellipsis_lines": ratio(ends, len(lines)),
        "punctuated_lines": ratio(sum(line[-1] in ".!?'\"" for line in full), len(full)),
        "short_lines": ratio(sum(len(line) <= 30 for line in full), len(full)),
        "long_lines": sum(len(line) >= 200 for line in full),
    }


def duplicate_text(text):
    paragraphs, paragraph_texts = duplicates(re.split("\n{2,}", text.strip()))
    lines, line_texts = duplicates(re.split("\n+", text))
    _, full_texts = duplicates([line for line in text.split("\n") if line.strip()])
    return {
        "duplicate_paragraphs": paragraphs,
        "duplicate_paragraph_characters": ratio(characters(paragraph_texts), len(text)),
        "duplicate_lines": lines,
        "duplicate_line_characters": ratio(characters(line_texts), len(text)),
        "duplicate_text_line_characters": ratio(
            characters(full_texts), len(text.replace("\n", ""))
        ),
    }


STOP_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}


def measure(text):
    words = text.split()
    count = len(words)
    signals = {
        "characters": len(text),
        "words": count,
        "mean_word_length": ratio(characters(words), count),
        "letters": ratio(sum(c.isalpha() for c in text), len(text)),
        "hash_signs_per_word": ratio(text.count("#"), count),
        "ellipses_per_word": ratio(text.count("...") + text.count("\u2026"), count),
        "words_with_letters": ratio(sum(any(c.isalpha() for c in w) for w in words), count),
        "stop_words": len(STOP_WORDS & set(words)),
        "newlines_per_word": ratio(text.count("\n"), count),
        "curly_brackets": text.count("{"),
        "lorem_ipsum": len(re.findall("lorem ipsum", text, re.ASCII | re.IGNORECASE)),
        "sentences": sentences(text),
        "characters_without_punctuation": without_punctuation(text),
    }
    for n in range(2, 5):
        signals[f"top_{n}_gram"] = ratio(top_gram(words, n), len(text))
    for n in range(5, 11):
        signals[f"duplicate_{n}_grams"] = ratio(duplicate_grams(words, n), len(text))
    return {**signals, **line_form(text), **duplicate_text(text)}


def texts(path):
    with open(path, "rb") as file:
        while length := file.readline():
            yield file.read(int(length)).decode("utf-8")


def main():
    names = sys.argv[2].split(",")
    for text in texts(sys.argv[1]):
        # Python may have an older version of Unicode.
        if any(unicodedata.category(c) == "Cn" for c in set(text)):
            print("skip")
            continue
        signals = measure(text)
        kept = filter_document(text, DocumentFilter()) is not None
        print(int(kept), *(repr(float(signals[name])) for name in names), sep="\t")


if __name__ == "__main__":
    main()
