"""Rows of the program trainyard-data, files included, and of duplicates out of core."""
import json
import statistics

from figures import Figure

TRAINED_BYTES = 12_000_000


def prepare(bench):
    """From JSON lines to train.bin."""
    size = bench.jsonl.stat().st_size / 1e6
    used = {}
    # The main thread writes the files, so that -j 1 would use more than one core.
    for cores in (1, 2):
        command = ["prepare", bench.jsonl, "--tokenizer", "gpt2", "-j", cores]
        used[cores] = bench.repeat(lambda: bench.data(command, cores=cores))
    speedups = [one.wall / two.wall for one, two in zip(used[1], used[2])]
    cpu = [f"{size / statistics.median(one.cpu for one in used[cores]):.0f}" for cores in (1, 2)]
    return [Figure("JSON lines to train.bin, GPT-2, one core", "MB/s",
                   [size / one.wall for one in used[1]], 80, 100,
                   note=f"wall time; {cpu[0]} MB/s of CPU time"),
            Figure("JSON lines to train.bin, GPT-2, two cores to one", "times", speedups, 1.85,
                   1.9, note=f"wall time; needs free cores. {cpu[1]} MB/s of CPU time")]


def merges_of(path):
    """The merges of a tokenizer.json as pairs."""
    merges = json.loads(path.read_text())["model"]["merges"]
    return [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge)
            for merge in merges]


def equal_merges(ours, theirs):
    """The package includes only bytes that occur, so that the longer list has a few more merges."""
    common = min(len(ours), len(theirs))
    return "equal merges" if ours[:common] == theirs[:common] else "**different merges**"


def training(bench):
    text = bench.lines_of_mixed(TRAINED_BYTES)
    ours, theirs = bench.directory / "ours.json", bench.directory / "theirs.json"
    # The package has no special token.
    command = ["train-tokenizer", text, "-j", 1, "--vocab-size", 30001, "--min-frequency", 0,
               "--force"]
    figure = Figure("BPE training, 12 MB to 30,000 tokens", "s of CPU time",
                    bench.repeat(lambda: bench.data(command, out=ours).cpu), 1.0, 0.5, at_most=True)
    peer = Figure("BPE training, 12 MB: Hugging Face", "s of CPU time", [],
                  note="not measured: pass --packages")
    if bench.packages is not None:
        peer.note = ""
        peer.samples = bench.repeat(lambda: bench.node("train", theirs, text)["seconds"])
        figure.note = equal_merges(merges_of(ours), merges_of(theirs))
    return [figure, peer]


def growth_text(curve):
    return ", ".join(f"{size / 1e6:.0f} MB {words:,}" for size, words in curve)


def growth(bench):
    """Distinct GPT-2 pieces of the real and of the generated text."""
    generated = bench.generated_text(200_000_000 // bench.divisor)
    curves = [bench.measure("growth", path) for path in (bench.mixed, generated)]
    generated.unlink()
    common = min(len(curve) for curve in curves)
    ratios = [made[1] / real[1] for real, made in zip(curves[0][:common], curves[1][:common])]
    return [Figure("distinct words, generated to real", "times", ratios,
                   note=f"real: {growth_text(curves[0])}; generated: {growth_text(curves[1])}")]


def large_training(bench):
    """10 GB of generated text, deleted afterwards."""
    size = 10_000_000_000 // bench.divisor
    text = bench.generated_text(size)
    used = bench.data(["train-tokenizer", text, "--vocab-size", 32000, "--force"],
                      out=bench.directory / "large.json")
    text.unlink()
    what = f"BPE training, {size / 1e9:g} GB to 32,000 tokens"
    return [Figure(f"{what}, memory", "GB", [used.rss / 1e9], 4, 2, at_most=True, note="one run"),
            Figure(f"{what}, all threads", "s", [used.wall],
                   note=f"one run, {used.cpu:.0f} s of CPU time")]


def bands(bench):
    """Near duplicates among generated signatures."""
    documents = 10_000_000 // bench.divisor
    rows = []
    for copies in (0.05, 0.49):
        used = bench.repeat(lambda: bench.bands(documents, copies))
        results = [json.loads(one.output) for one in used]
        steps = ("add", "sort", "decide")
        times = [sum(result[f"{step}_seconds"] for step in steps) for result in results]
        what = f"{documents / 1e6:g} M documents, {copies:.0%} copies, bands to bitmap"
        note = "; ".join(f"{step} {results[0][f'{step}_seconds']:.1f} s" for step in steps)
        rows += [Figure(what, "s", times, 90, 60, at_most=True, note=note),
                 Figure(f"{what}, memory", "GB", [one.rss / 1e9 for one in used], 2, 0,
                        at_most=True)]
    return rows


def memory(bench):
    """Peak memory with two threads. The limit of --memory-mib is the goal where it is passed."""
    rows = []
    for family in ("gpt2", "llama3"):
        if family not in bench.tokenizers:
            continue
        tokenizer = family if family == "gpt2" else bench.tokenizers[family]
        command = ["prepare", bench.jsonl, "-j", 2, "--tokenizer", tokenizer]
        used = bench.repeat(lambda: bench.data(command))
        rows.append(Figure(f"memory of prepare, {family}, two threads", "MB",
                           [one.rss / 1e6 for one in used], 300, 0, at_most=True))
    limit = 256
    for command in (["filter", bench.jsonl, "--rules", "gopher"], ["dedup", bench.jsonl],
                    ["train-tokenizer", bench.jsonl]):
        used = bench.repeat(lambda: bench.data(command + ["-j", 2, "--memory-mib", limit]))
        rows.append(Figure(f"memory of {command[0]}, two threads, --memory-mib {limit}", "MB",
                           [one.rss / 1e6 for one in used], limit * 1.048576, 0, at_most=True))
    return rows
