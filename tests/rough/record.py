"""The record of a run: lines as they happen, and a summary in a file that is always up to date."""
import collections
import datetime
import os
import threading


class Record:
    """Misfortunes that were played, and findings. Thread-safe; the summary survives a run that breaks."""

    def __init__(self, directory, title):
        self.file = directory / "summary.txt"
        self.title = title
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.played = collections.Counter()
        self.wrong = []
        self.state = "running"

    def say(self, text):
        print(f"{datetime.datetime.now():%H:%M:%S} {text}", flush=True)

    def count(self, name, number=1):
        with self.lock:
            self.counts[name] += number
            self.write()

    def put(self, name, number):
        """Sets a figure that is a state, not a sum."""
        with self.lock:
            self.counts[name] = number
            self.write()

    def play(self, misfortune):
        self.say(misfortune)
        with self.lock:
            self.played[misfortune] += 1
            self.write()

    def blame(self, text):
        """Says at once what is wrong; the same text once."""
        with self.lock:
            if text in self.wrong:
                return
            self.wrong.append(text)
            self.write()
        self.say(f"WRONG: {text}")

    def end(self, state):
        """Prints the summary; returns the exit code."""
        with self.lock:
            self.state = state
            self.write()
        for line in self.lines():
            self.say(line)
        self.say(f"summary: {self.file}")
        return 1 if self.wrong else 0

    def write(self):
        draft = self.file.with_suffix(".new")
        draft.write_text("\n".join(self.lines()) + "\n")
        os.replace(draft, self.file)

    def lines(self):
        n = self.counts
        yield f"{self.title}: {self.state}"
        yield (f"{sum(self.played.values())} misfortunes: "
               + ", ".join(f"{name} {count}" for name, count in sorted(self.played.items())))
        yield (f"losses: {n['losses compared']} of {n['training jobs']} training jobs compared bit "
               f"for bit, {n['losses that differ']} differ, {n['losses missing']} missing, "
               f"{n['losses lost with a node']} lost with a node's data directory")
        yield (f"jobs of others: {n['training jobs']} training and {n['short jobs']} short jobs "
               f"ended, {n['jobs of others failed']} not well, over "
               f"{n['attempts of others']} attempts")
        yield (f"ranks: {n['looks']} looks at all processes saw {n['marks']} ranks, "
               f"{n['ranks twice']} of them twice at a time")
        yield (f"slots: {n['slots free']} of {n['slots']} free in the end, "
               f"{n['nodes well']} of {n['nodes']} nodes well, {n['processes left']} processes "
               f"left; {n['quarantines ended']} quarantines ended by the operator, "
               f"{n['workers revived']} workers started again")
        yield (f"the door: {n['refusals']} requests refused, {n['door open']} let in; "
               f"{n['half requests']} half requests")
        yield (f"links: {n['deletions of links']} deletions of jobs whose checkpoints were links, "
               f"{n['deletions that followed a link']} followed one")
        yield f"{len(self.wrong)} things wrong"
        for text in self.wrong:
            yield f"WRONG: {text}"
