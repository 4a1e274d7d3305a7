"""Measures a sweep of `trainyard tune --sweep` on this machine, without a controller or worker.

  trainyard tune llama3-1.5b --sweep sweep.json --device H200          # anywhere
  python3 tests/gpu/sweep.py --trainer build/gpu/bin/trainyard-trainer sweep.json measured.json
  trainyard tune llama3-1.5b --measured measured.json --calibrate h200.yaml --write tuned.yaml

Each run is the trainer under the variables that torchrun sets, one process a GPU, ended after its
steps. Writes the second file after every run. A run that fails is told there and does not end the
sweep. Needs python3 alone.
"""
import argparse
import datetime
import json
import pathlib
import tempfile

import trainer_run

# Telemetry of the first rank that `tune` reads; the rest of the records is left where it is.
RECORDS = ("metrics", "rank")
NO_VALUES = ("step", "time_ms", "rank")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", type=pathlib.Path, help="file of `trainyard tune --sweep`")
    parser.add_argument("measured", type=pathlib.Path, help="file to write")
    parser.add_argument("--trainer", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path,
                        help="directory of `trainyard data prepare` (the job's, or noise where "
                             "this machine does not have it)")
    parser.add_argument("--timeout", type=int, default=540,
                        help="seconds that a run may take (%(default)s)")
    options = parser.parse_args()
    try:
        options.runs = json.loads(options.sweep.read_text())
    except (OSError, ValueError) as error:
        parser.error(f"{options.sweep}: {error}")
    if not options.trainer.is_file():
        parser.error(f"{options.trainer}: no such file; build trainyard-trainer first")
    return options


def values(records, steps):
    """Lists of the values of the first `steps` steps, by name."""
    found = {}
    for record in records:
        if record["type"] not in RECORDS or record.get("step", steps + 1) > steps:
            continue
        for name, value in record.items():
            if isinstance(value, (int, float)) and name not in NO_VALUES:
                found.setdefault(name, []).append(value)
    return found


class Sweeper:
    """Runs of one sweep, with their files in `scratch`."""

    def __init__(self, options, scratch):
        self._options = options
        self._scratch = scratch

    def _data(self, spec):
        """The job's tokens, or noise for its vocabulary, made once."""
        if self._options.data:
            return {"path": str(self._options.data.resolve())}
        own = spec.get("data", {})
        if own.get("path") and pathlib.Path(own["path"]).exists():
            return own
        noise = self._scratch / "noise"
        if not noise.exists():
            length = spec["train"]["seq_length"]
            trainer_run.write_noise(noise, spec["model"]["vocab_size"], 64 * (length + 1))
        return {"path": str(noise)}

    def measure(self, number, spec, steps):
        """What `tune --measured` reads of a run: its failure, or its values."""
        settings = {**spec, "data": self._data(spec)}
        folder = self._scratch / f"run-{number}"
        run = trainer_run.TrainerRun(self._options.trainer, folder, settings, folder / "saved")
        try:
            with run:
                run.wait_until(lambda records: trainer_run.last_step(records) >= steps,
                               self._options.timeout)
        except trainer_run.RunError as error:
            return {"failure": str(error)}
        return {"metrics": values(run.records(), steps)}


def main():
    options = parse_arguments()
    sweep = options.runs
    sweep["date"] = datetime.date.today().isoformat()
    with tempfile.TemporaryDirectory(prefix="trainyard-sweep-") as scratch:
        sweeper = Sweeper(options, pathlib.Path(scratch))
        for number, run in enumerate(sweep["runs"], 1):
            print(f"run {number} of {len(sweep['runs'])}: {run['settings']}", flush=True)
            run.update(sweeper.measure(number, run["spec"], sweep["steps"]))
            print(f"  {run['failure']}" if "failure" in run else "  measured", flush=True)
            options.measured.write_text(json.dumps(sweep, indent=1) + "\n")


if __name__ == "__main__":
    main()
