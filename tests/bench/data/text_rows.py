"""Rows of text in memory: encoding, filters, signatures."""
from figures import Figure

NO_PACKAGES = "not measured: pass --packages"


def rate(result):
    return result["bytes"] / 1e6 / result["seconds"]


def peer_rows(bench, what, peers, text):
    """`peers`: names and arguments of peers.mjs. They encode the first `peer_bytes` of the text."""
    rows = []
    for name, arguments in peers:
        if bench.packages is None:
            rows.append(Figure(f"{what}: {name}", "MB/s", [], note=NO_PACKAGES))
            continue
        samples = bench.repeat(
            lambda: rate(bench.node("encode", *arguments, text, bench.peer_bytes)))
        rows.append(Figure(f"{what}: {name}", "MB/s", samples))
    return rows


def own_rows(bench, what, tokenizer, text, goals):
    """`goals`: (must, aim) of the whole text, and of the first 10 MB."""
    results = bench.repeat(lambda: bench.measure("encode", tokenizer, text))
    rows = [Figure(what, "MB/s", [rate(result) for result in results], *goals[0],
                   note=f"{results[0]['bytes'] / 1e6:.0f} MB, "
                        f"{results[0]['bytes'] / results[0]['tokens']:.2f} bytes per token")]
    cold = [result["cold_mb_per_second"] for result in results if "cold_mb_per_second" in result]
    if cold:
        rows.append(Figure(f"{what}, first 10 MB", "MB/s", cold, *goals[1]))
    return rows


def missing(what):
    return [Figure(what, "MB/s", [], note=NO_PACKAGES)]


def gpt2(bench):
    what = "encode GPT-2"
    peers = [("Hugging Face", ["hf", bench.tokenizers["gpt2"]]), ("tiktoken", ["tiktoken", "gpt2"]),
             ("gpt-tokenizer", ["js", "r50k_base"])]
    return (own_rows(bench, what, "gpt2", bench.mixed, [(100, 150), (60, 100)])
            + peer_rows(bench, what, peers, bench.mixed))


def llama3(bench):
    what = "encode LLaMA-3"
    if "llama3" not in bench.tokenizers:
        return missing(what)
    peers = [("Hugging Face", ["hf", bench.tokenizers["llama3"]]),
             ("tiktoken, cl100k", ["tiktoken", "cl100k_base"])]
    return (own_rows(bench, what, bench.tokenizers["llama3"], bench.mixed, [(100, 150), (60, 100)])
            + peer_rows(bench, what, peers, bench.mixed))


def qwen3(bench):
    what = "encode Qwen3"
    if "qwen3" not in bench.tokenizers:
        return missing(what)
    peers = [("Hugging Face", ["hf", bench.tokenizers["qwen3"]])]
    return (own_rows(bench, what, bench.tokenizers["qwen3"], bench.mixed, [(80, 120), (0, 0)])
            + peer_rows(bench, what, peers, bench.mixed))


def deepseek(bench):
    what = "encode DeepSeek-V3"
    if "deepseek3" not in bench.tokenizers:
        return missing(what)
    peers = [("Hugging Face", ["hf", bench.tokenizers["deepseek3"]])]
    return (own_rows(bench, what, bench.tokenizers["deepseek3"], bench.mixed, [(80, 120), (0, 0)])
            + peer_rows(bench, what, peers, bench.mixed))


def llama2(bench):
    what = "encode LLaMA-2"
    if "llama2" not in bench.tokenizers:
        return missing(what)
    rows = own_rows(bench, what, bench.tokenizers["llama2"], bench.mixed, [(40, 60), (0, 0)])
    peer = Figure(f"{what}: spm_encode", "MB/s", [], note="not measured: install sentencepiece")
    if bench.has_program("spm_encode"):
        lines = bench.lines_of_mixed()
        size = lines.stat().st_size / 1e6
        command = ["spm_encode", f"--model={bench.tokenizers['llama2']}", "--output_format=id"]
        peer = Figure(peer.what, "MB/s",
                      bench.repeat(lambda: size / bench.process(command, stdin=lines).cpu))
    return rows + [peer]


def cjk(bench):
    what = "encode Chinese and Japanese, LLaMA-3"
    if "llama3" not in bench.tokenizers:
        return missing(what)
    if bench.cjk.stat().st_size < 100_000:
        return [Figure(what, "MB/s", [], note="not measured: install manpages-ja and manpages-zh")]
    peers = [("Hugging Face", ["hf", bench.tokenizers["llama3"]]),
             ("tiktoken, cl100k", ["tiktoken", "cl100k_base"])]
    return (own_rows(bench, what, bench.tokenizers["llama3"], bench.cjk, [(15, 25), (0, 0)])
            + peer_rows(bench, what, peers, bench.cjk))


def repeated(bench):
    rows = []
    for name, unit in (("one letter", "a"), ("spaces", " ")):
        results = bench.repeat(
            lambda: bench.measure("repeat", "gpt2", unit, "--bytes", 1_000_000)["seconds"])
        rows.append(Figure(f"1 MB of {name}, GPT-2", "s", results, 0.3, 0.05, at_most=True))
    return rows


def filters(bench):
    rows = []
    for rules in ("guide", "gopher", "gopher,c4,fineweb"):
        samples = bench.repeat(lambda: rate(bench.measure("filter", rules, bench.mixed)))
        rows.append(Figure(f"filter {rules}", "MB/s", samples, 60, 80))
    for name, command in (("the guide's Python", "filter"), ("all signals in Python", "signals")):
        samples = bench.repeat(lambda: rate(bench.python_peer(command, bench.mixed)))
        rows.append(Figure(f"filter: {name}", "MB/s", samples))
    return rows


def signatures(bench):
    rows = []
    for preset, goals in (("near", (80, 150)), ("fineweb", (80, 150)), ("slimpajama", (80, 150)),
                          ("guide", (12, 0))):
        samples = bench.repeat(lambda: rate(bench.measure("sign", preset, bench.mixed)))
        rows.append(Figure(f"MinHash signatures {preset}", "MB/s", samples, *goals))
    results = bench.repeat(lambda: bench.python_peer("sign", bench.mixed))
    note = "with numpy" if results[0]["numpy"] else "without numpy; install python3-numpy"
    rows.append(Figure("MinHash signatures: the guide's Python", "MB/s",
                       [rate(result) for result in results], note=note))
    return rows
