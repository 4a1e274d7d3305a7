"""Kills ranks of trainyard-trainer at random times and measures how fast the gang goes on in place.

    healing.py --trainer build/release/bin/trainyard-trainer --ranks 4 --kills 50 [--device gpu]

Stands in for whoever starts the ranks: starts them and one spare, writes the orders of
worker/README.md's contract, and compares the losses with those of an undisturbed run, bit for bit.
On GPUs each spare is a process on the device of the rank that dies next. Some are started ahead, so
that the kills need not wait for them. With --stopped, a rank is paused before it is killed, so that the
others already wait for it. Prints, for each kill, the seconds from SIGKILL to the next
finished step of the gang, and median, ninth decile and worst of all.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

VOCABULARY = 64
PAUSE = 0.01
HANGS_AFTER = 180


# Below Linux's range of ephemeral ports. From that range, a rank that connects before the first
# rank listens could be assigned the target port itself, and connect to itself.
PORTS = range(20000, 30000)


def free_port():
    while True:
        port = random.choice(PORTS)
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", port)) != 0:
                return port


def write_tokens(folder, split, count, seed):
    numbers, state = [0], seed
    for _ in range(count - 1):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        surprise = (state >> 60) < 3
        usual = (numbers[-1] * 5 + 7) % VOCABULARY
        numbers.append((state >> 33) % VOCABULARY if surprise else usual)
    (folder / f"{split}.bin").write_bytes(struct.pack(f"<{count}H", *numbers))
    header = {"format": "trainyard-tokens", "version": 1, "dtype": "uint16", "tokens": count,
              "vocab_size": VOCABULARY, "documents": 1, "source_bytes": count,
              "unigram_entropy": 4.1, "end_of_document": 0, "xxh64": ""}
    (folder / f"{split}.json").write_text(json.dumps(header))


def settings(arguments, data):
    is_gpu = arguments.device == "gpu"
    return {"name": "healing", "resources": {"device": arguments.device},
            "layout": {"micro_batch": 2, **json.loads(arguments.layout)},
            "model": {"num_layers": 4, "hidden_size": arguments.hidden,
                      "ffn_hidden_size": 2 * arguments.hidden, "num_attention_heads": 4,
                      "num_query_groups": 2, "vocab_size": VOCABULARY,
                      **json.loads(arguments.model)},
            "data": {"path": str(data)},
            "train": {"seq_length": arguments.length, "global_batch": 2 * arguments.ranks,
                      "steps": arguments.steps, "precision": "bf16" if is_gpu else "fp32",
                      **({} if is_gpu else {"threads": 1})},
            "optimizer": {"lr": 3e-3}, "schedule": {"warmup_steps": 4},
            "evaluation": {"every_steps": 0}, "checkpoint": {"every_steps": 0}}


class Member:
    """A process: a rank, or a spare that may become one."""

    def __init__(self, gang, name, rank, is_spare=False):
        self.run = gang.folder / name
        self.run.mkdir(parents=True)
        (self.run / "spec.json").write_text(json.dumps(gang.spec))
        self.order = self.run / "order.json"
        self.read, self.losses, self.phase = 0, {}, ""
        variables = {
            # Settings of the machine's GPUs.
            **{name: value for name, value in os.environ.items()
               if name.startswith("NCCL_") or name == "CUDA_VISIBLE_DEVICES"},
            "PATH": os.environ["PATH"], "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
            "RANK": str(rank), "WORLD_SIZE": str(gang.ranks_count), "LOCAL_RANK": str(rank),
            "LOCAL_WORLD_SIZE": str(gang.ranks_count), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(gang.port), "TRAINYARD_RUN_DIR": str(self.run),
            "TRAINYARD_SPEC": str(self.run / "spec.json"),
            "TRAINYARD_CHECKPOINT_DIR": str(gang.folder / "checkpoints")}
        if gang.heals:
            variables["TRAINYARD_HEAL"] = str(self.order)
        if is_spare:
            variables["TRAINYARD_STANDBY"] = "1"
        output = open(self.run / "output.log", "ab")
        self.process = subprocess.Popen([gang.trainer], env=variables, cwd=self.run,
                                        stdout=output, stderr=output)

    def look(self):
        """Reads the losses that have come since the last look, with their times."""
        path = self.run / "telemetry.jsonl"
        if not path.exists():
            return []
        with open(path, "rb") as file:
            file.seek(self.read)
            text = file.read()
        text = text[:text.rfind(b"\n") + 1]
        self.read += len(text)
        records = [json.loads(line) for line in text.splitlines()]
        steps = [r for r in records if r["type"] == "metrics" and "loss" in r]
        for record in steps:
            self.losses.setdefault(record["step"], []).append(record["loss"])
        phases = [record["phase"] for record in records if record["type"] == "phase"]
        self.phase = phases[-1] if phases else self.phase
        return steps

    def end(self):
        """Exit code, and the last lines of the output."""
        lines = (self.run / "output.log").read_text(errors="replace").splitlines()
        return "\n  ".join([f"{self.run.name} ended with {self.process.returncode}", *lines[-12:]])

    def tell(self, order):
        new = self.order.with_suffix(".new")
        new.write_text(json.dumps(order))
        os.rename(new, self.order)


class Gang:
    def __init__(self, arguments, spec, folder, heals=True):
        self.heals, self.stopped = heals, arguments.stopped
        self.trainer, self.spec, self.folder = os.path.abspath(arguments.trainer), spec, folder
        self.ranks_count, self.port, self.generation = arguments.ranks, free_port(), 1
        self.ranks = [Member(self, f"rank{rank}", rank) for rank in range(arguments.ranks)]
        self.all = list(self.ranks)
        self.spares = []

    def add_spare(self, rank):
        self.spares.append(Member(self, f"spare{len(self.all)}", rank, is_spare=True))
        self.all.append(self.spares[-1])

    def await_spare(self):
        spare = self.spares[0]
        self.wait(lambda: spare.look() or spare.phase == "standby", "a spare")

    def wait(self, condition, what):
        end = time.monotonic() + HANGS_AFTER
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f"still waiting for {what}: see {self.folder}")
            for member in self.ranks:
                if member.process.poll() not in (None, 0):
                    raise SystemExit(f"waited for {what}, but a rank has failed: "
                                     + member.end())
            time.sleep(PAUSE)

    def newest_step(self):
        self.ranks[0].look()
        return max(self.ranks[0].losses, default=0)

    def replace(self, rank):
        """Kills the rank; returns seconds until the gang's next step, and until each phase."""
        for member in self.all:
            member.look()
        killed = self.kill(rank)
        self.generation, self.port = self.generation + 1, free_port()
        self.ranks[rank] = self.spares.pop(0)
        for place, member in enumerate(self.ranks):
            member.tell({"generation": self.generation, "rank": place, "master_addr": "127.0.0.1",
                         "master_port": self.port, "replaced": [rank]})
        started, found = self.ranks[0], []

        def has_stepped():
            found.extend(r for r in started.look() if self.is_of_now(r, killed))
            return found
        self.wait(has_stepped, "the next step")
        return found[0]["time_ms"] / 1000 - killed, self.phases_since(killed)

    def kill(self, rank):
        """Stops the rank for a while if asked to, and kills it; returns the time of SIGKILL."""
        victim = self.ranks[rank].process
        if self.stopped > 0:
            victim.send_signal(signal.SIGSTOP)
            time.sleep(self.stopped)
        killed = time.time()
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        return killed

    def phases_since(self, killed):
        """"heal 0.12, train 1.05": seconds from the kill until the last rank was in each phase."""
        reached = {}
        for member in self.ranks:
            for line in (member.run / "telemetry.jsonl").read_text().splitlines():
                record = json.loads(line)
                after = record["time_ms"] / 1000 - killed
                if record["type"] == "phase" and after >= 0:
                    phase = record["phase"]
                    reached[phase] = max(reached.get(phase, 0), after)
        return ", ".join(f"{phase} {after:.2f}" for phase, after in reached.items())

    def is_of_now(self, record, killed):
        """True for a step behind the loss: the first rank has entered phase heal, or is new."""
        path = self.ranks[0].run / "telemetry.jsonl"
        since = killed * 1000
        for line in path.read_text().splitlines():
            other = json.loads(line)
            if other["type"] == "phase" and other["phase"] == "train" and other["time_ms"] >= since:
                return record["time_ms"] >= other["time_ms"]
        return False

    def end(self):
        for member in self.ranks:
            if member.process.wait(timeout=HANGS_AFTER) != 0:
                raise SystemExit("a rank has failed: " + member.end())
            member.look()
        for spare in self.spares:
            spare.tell({"done": True})
            spare.process.wait(timeout=HANGS_AFTER)

    def losses(self):
        """By step: what was told, by the run directories of those who told it."""
        found = {}
        for member in self.all:
            member.look()
            for step, losses in member.losses.items():
                for loss in losses:
                    found.setdefault(step, {}).setdefault(loss, []).append(member.run.name)
        return found


def add_gang_options(parser, ranks, kills, stopped):
    """Options of the ranks and their model; the numbers are defaults."""
    parser.add_argument("--trainer", required=True)
    parser.add_argument("--ranks", type=int, default=ranks, help="(%(default)s)")
    parser.add_argument("--kills", type=int, default=kills, help="(%(default)s)")
    parser.add_argument("--stopped", type=float, default=stopped, metavar="SECONDS",
                        help="pause of a rank before it is killed (%(default)s)")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--layout", default="{}", help='JSON, such as {"zero": 1}')
    parser.add_argument("--model", default="{}",
                        help='more settings of the model, as JSON, such as {"num_experts": 8}')
    parser.add_argument("--seed", type=int, default=1)


def make_data(folder):
    data = folder / "data"
    data.mkdir()
    write_tokens(data, "train", 50000, 1)
    write_tokens(data, "val", 2000, 2)
    return data


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_gang_options(parser, ranks=4, kills=50, stopped=0.0)
    parser.add_argument("--steps", type=int, default=0, help="0: as many as the kills need")
    parser.add_argument("--ahead", type=int, default=1, help="spares that wait (%(default)s)")
    parser.add_argument("--steps-between", type=int, default=10)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    arguments.steps = arguments.steps or 3 * arguments.steps_between * (arguments.kills + 2)

    folder = pathlib.Path(tempfile.mkdtemp(prefix="healing-"))
    spec = settings(arguments, make_data(folder))

    whole = Gang(arguments, spec, folder / "whole")
    whole.end()

    gang, seconds = Gang(arguments, spec, folder / "healed"), []
    victims = [chance.randrange(arguments.ranks) for _ in range(arguments.kills)]
    for number, rank in enumerate(victims):
        while len(gang.all) - arguments.ranks < min(number + arguments.ahead, arguments.kills):
            gang.add_spare(victims[len(gang.all) - arguments.ranks])
        gang.await_spare()
        due = gang.newest_step() + chance.randint(1, arguments.steps_between)
        gang.wait(lambda: gang.newest_step() >= due, f"step {due}")
        time.sleep(chance.random() * 0.1)
        after, phases = gang.replace(rank)
        seconds.append(after)
        print(f"{number + 1}: rank {rank} killed after step {due}, next step after {after:.2f} s "
              f"(all ranks in phase {phases})", flush=True)
    gang.end()

    expected, found = whole.losses(), gang.losses()
    wrong = [step for step, told in expected.items() if set(found.get(step, told)) != set(told)]
    for step in wrong:
        print(f"step {step}: expected {expected[step]}, told {found[step]}")
    missing = len(set(expected) - set(found))
    ninth = sorted(seconds)[int(0.9 * (len(seconds) - 1))]
    print(f"{len(seconds)} kills: median {statistics.median(seconds):.2f} s, ninth decile "
          f"{ninth:.2f} s, worst {max(seconds):.2f} s; {len(expected)} steps, {len(wrong)} of other bits, "
          f"{missing} not told")
    sys.exit(1 if wrong or missing else 0)


if __name__ == "__main__":
    main()
