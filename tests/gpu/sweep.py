"""Measures a sweep of `trainyard tune --sweep` on this machine, without a controller or worker.

  trainyard tune llama3-1.5b --sweep sweep.json --device H200          # anywhere
  python3 tests/gpu/sweep.py --trainer build/gpu/bin/trainyard-trainer sweep.json measured.json
  trainyard tune llama3-1.5b --measured measured.json --calibrate h200.yaml --write tuned.yaml

Each run is the trainer under the variables that torchrun sets, one process a GPU, ended after its
steps. Writes the second file after every run. A run that fails is told there and does not end the
sweep. Needs python3 and, beside this file, trainer_run.py and model_shapes.py.
"""
import argparse
import datetime
import json
import pathlib
import tempfile

import trainer_run

NO_VALUES = ("step", "time_ms")


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
    options.content = read_sweep(options.sweep, parser)
    if not options.trainer.is_file():
        parser.error(f"{options.trainer}: no such file; build trainyard-trainer first")
    try:
        options.measured.touch()  # Rather now than after the first run.
    except OSError as error:
        parser.error(str(error))
    return options


def read_sweep(path, parser):
    """The sweep; a file that is none ends the program."""
    try:
        sweep = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        parser.error(f"{path}: {error}")
    is_sweep = isinstance(sweep, dict) and sweep.get("sweep") == 1 and sweep.get("runs")
    if not is_sweep:
        parser.error(f"{path}: no file of `trainyard tune --sweep` of this version")
    return sweep


def values(records, steps):
    """The first rank's values of the first `steps` steps, by name."""
    found = {}
    for record in trainer_run.metrics(records):
        for name, value in record.items():
            is_value = isinstance(value, (int, float)) and name not in NO_VALUES
            if is_value and record["step"] <= steps:
                found.setdefault(name, []).append(value)
    return found


def paths_of(data):
    """Paths of the tokens that a job's `data` names; a part of a blend is "WEIGHT PATH"."""
    parts = [part.split(" ", 1)[-1] for part in data.get("blend", [])]
    return parts + [data["path"]] if data.get("path") else parts


def exists(path):
    """A directory or file of tokens, or the files of Megatron-LM that have this beginning."""
    return any(pathlib.Path(path + end).exists() for end in ("", ".bin", ".idx"))


class Sweeper:
    """Runs of one sweep, with their files in `scratch`."""

    def __init__(self, options, scratch):
        self._options = options
        self._scratch = scratch
        self.substitute = ""  # Why the runs see other tokens than the job's.

    def _data(self, spec):
        """The job's tokens, or noise for its vocabulary, made once."""
        if self._options.data:
            self.substitute = f"tokens of {self._options.data}"
            return {"path": str(self._options.data.resolve())}
        own = paths_of(spec.get("data", {}))
        missing = [path for path in own if not exists(path)]
        if own and not missing:
            return spec["data"]
        noise = self._scratch / "noise"
        if not noise.exists():
            length = spec["train"]["seq_length"]
            trainer_run.write_noise(noise, spec["model"]["vocab_size"], 64 * (length + 1))
            why = f"this machine does not see {', '.join(missing)}" if own else "the job names none"
            self.substitute = f"random tokens ({why})"
            print(f"data: {self.substitute}", flush=True)
        return {"path": str(noise)}

    def measure(self, number, spec, steps):
        """The part of a run that `tune --measured` reads: its failure, or its values."""
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
    sweep = options.content
    sweep["date"] = datetime.date.today().isoformat()
    with tempfile.TemporaryDirectory(prefix="trainyard-sweep-") as scratch:
        sweeper = Sweeper(options, pathlib.Path(scratch))
        for number, run in enumerate(sweep["runs"], 1):
            print(f"run {number} of {len(sweep['runs'])}: {run['settings']}", flush=True)
            for old in ("failure", "metrics"):  # Results of an earlier measurement.
                run.pop(old, None)
            run.update(sweeper.measure(number, run["spec"], sweep["steps"]))
            sweep["data"] = sweeper.substitute
            print(f"  {run['failure']}" if "failure" in run else "  measured", flush=True)
            options.measured.write_text(json.dumps(sweep, indent=1) + "\n")


if __name__ == "__main__":
    main()
