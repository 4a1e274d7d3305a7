"""Makes the benchmark's texts from the files of a Debian machine. Called by data_bench.py.

Documents are separated by NUL in mixed.txt and cjk.txt. mixed.jsonl has the documents of mixed.txt.
"""
import gzip
import json
import os
import pathlib
import random

# Documentation and manual pages, Perl and Python modules, headers, word lists, JavaScript.
ROOTS = ["/usr/share/doc", "/usr/share/man", "/usr/share/perl", "/usr/share/perl5",
         "/usr/lib/python3.11", "/usr/lib/python3", "/usr/include", "/usr/share/dict",
         "/usr/share/hunspell", "/usr/share/vim", "/usr/share/nodejs", "/usr/share/info",
         "/usr/share/i18n", "/usr/lib/x86_64-linux-gnu/perl"]
CJK_ROOTS = ["/usr/share/man/ja", "/usr/share/man/zh_CN", "/usr/share/man/zh_TW",
             "/usr/share/man/ko"]
# Packages with more text. cjk.txt needs the last three.
PACKAGES = ["perl-doc", "manpages", "manpages-dev", "manpages-de", "manpages-fr", "linux-doc-6.1",
            "manpages-ja", "manpages-ja-dev", "manpages-zh"]
DOCUMENT_BYTES_MAX = 2_000_000


def texts(root):
    """The UTF-8 texts below a directory, in the order of their paths."""
    for directory, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = pathlib.Path(directory, name)
            if path.is_symlink() or not path.is_file():
                continue
            try:
                content = path.read_bytes()
                content = gzip.decompress(content) if name.endswith(".gz") else content
                content.decode()
            except (OSError, EOFError, ValueError):
                continue
            if content and b"\0" not in content:
                yield content[:DOCUMENT_BYTES_MAX].decode(errors="ignore")


def write_documents(path, documents):
    with open(path, "w", encoding="utf-8", newline="") as file:
        for document in documents:
            file.write(document + "\0")


def documents_up_to(roots, bytes_max):
    """Documents of all roots, each one once, until they have `bytes_max`."""
    documents = {}
    size = 0
    for root in roots:
        for text in texts(root):
            if size >= bytes_max:
                return list(documents)
            if text not in documents:
                documents[text] = None
                size += len(text.encode())
    return list(documents)


def make_corpus(directory, bytes_max):
    """Writes the files, unless they exist, and returns the sizes of mixed.txt and cjk.txt."""
    mixed, cjk, done = directory / "mixed.txt", directory / "cjk.txt", directory / "corpus.json"
    if not done.exists():
        directory.mkdir(parents=True, exist_ok=True)
        documents = documents_up_to(ROOTS, bytes_max)
        random.Random(1).shuffle(documents)
        write_documents(mixed, documents)
        with open(directory / "mixed.jsonl", "w", encoding="utf-8") as file:
            for document in documents:
                file.write(json.dumps({"text": document}, ensure_ascii=False) + "\n")
        write_documents(cjk, documents_up_to(CJK_ROOTS, bytes_max // 4))
        done.write_text(json.dumps({"documents": len(documents)}))
    return mixed.stat().st_size, cjk.stat().st_size
