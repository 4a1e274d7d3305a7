"""Each recipe of recipes/programs runs a small script of the same shape on a cluster of two nodes:
with one rank, and with two ranks on two nodes. A rank is killed, the job resumes from a checkpoint
that the worker has found, and the job is stopped. The curve, the ledger and the verdicts must be
right. The documented commands of the recipes run as they are written, too.

usage: programs_test.py PROGRAMS, the folder of trainyard, trainyard-controller and trainyard-worker
"""
import csv
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
RECIPES = HERE.parent.parent / "recipes" / "programs"
PROGRAMS = pathlib.Path(sys.argv.pop()).resolve()
LIMIT_SECONDS = 120
# Recipes whose programs save on SIGTERM.
SAVES_ON_STOP = {"megatron", "any-script"}
ARGUMENTS = {"nanogpt": "", "torchtitan": "", "megatron": "--save-interval 20",
             "hf-trainer": "train.py --save_steps 20"}


START = "trainyard submit recipes/programs/"


def is_complete(command):
    try:
        return not command.endswith("\\") and bool(shlex.split(command))
    except ValueError:  # A quote is open.
        return False


def documented_commands(path):
    """The commands of a document, each with its continuation lines."""
    commands, command = [], ""
    for line in path.read_text().splitlines():
        text = line.removeprefix("#").strip()
        if command or text.startswith(START):
            command += ("\n" if command else "") + text
        if command and is_complete(command):
            commands.append(command)
            command = ""
    return commands


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def eventually(condition, what):
    deadline = time.monotonic() + LIMIT_SECONDS
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not in {LIMIT_SECONDS} s: {what}")
        time.sleep(0.2)


class Cluster:
    """A controller and two workers, as `trainyard dev` starts them."""

    def __init__(self, directory):
        self.server = f"127.0.0.1:{free_port()}"
        self.directory = directory
        self.environment = dict(os.environ, TRAINYARD_TOKEN_FILE="", NO_COLOR="1")
        self.log = open(directory / "dev.log", "w")
        self.process = subprocess.Popen(
            [PROGRAMS / "trainyard", "dev", "--nodes", "2", "--slots", "8", "--listen",
             self.server, "--data-dir", directory / "dev"],
            stdout=self.log, stderr=subprocess.STDOUT, env=self.environment)
        try:
            eventually(lambda: self.run("nodes", "-o", "name").stdout.count("\n") == 2, "two nodes")
        except AssertionError:
            self.stop()
            raise

    def run(self, *arguments):
        return subprocess.run([PROGRAMS / "trainyard", "--server", self.server, *arguments],
                              stdin=subprocess.DEVNULL, text=True, capture_output=True,
                              env=self.environment)

    def describe(self, job):
        return json.loads(self.run("describe", job, "-o", "json").stdout)

    def steps(self, job):
        """The steps of the job's curve."""
        text = self.run("metrics", job, "loss", "-o", "csv").stdout
        return [int(row["STEP"]) for row in csv.DictReader(io.StringIO(text))]

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self.log.close()


def rank_processes(folder, job_id, attempt, rank):
    """The processes of a rank of the cluster in `folder`, by the variables that its worker has set.
    Other clusters on this machine may have a job with the same number."""
    prefix = f"TRAINYARD_RUN_DIR={folder}/"
    wanted = {f"TRAINYARD_JOB_ID={job_id}", f"TRAINYARD_ATTEMPT={attempt}"}
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            variables = set((process / "environ").read_bytes().decode().split("\0"))
        except (OSError, UnicodeDecodeError):
            continue
        run_dir = [text for text in variables if text.startswith(prefix)]
        if wanted <= variables and run_dir and run_dir[0].endswith(f"/rank{rank}"):
            found.append(int(process.name))
    return found


class ProgramsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cluster = Cluster(pathlib.Path(cls.folder.name))

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()
        cls.folder.cleanup()

    def submit(self, recipe, nodes):
        name = f"{recipe}-{nodes}"
        # A checkpoint is complete after 1 s, and after 5 s if several nodes may write it.
        save_every = 300 if nodes == 1 else 500
        settings = [f"name={name}", f"resources.nodes={nodes}", "resources.slots_per_node=1",
                    "resources.device=cpu", f"env.TEST_SAVE_EVERY={save_every}",
                    f"working_directory={HERE / recipe}"]
        if recipe in ARGUMENTS:
            settings.append(f"env.TRAIN_ARGS={ARGUMENTS[recipe]}")
        flags = [word for setting in settings for word in ("--set", setting)]
        done = self.cluster.run("submit", str(RECIPES / f"{recipe}.yaml"), *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return name

    def kill_and_resume(self, name, nodes):
        job = lambda: self.cluster.describe(name)["job"]
        eventually(lambda: job()["checkpoints"], f"a checkpoint of {name}")
        for process in rank_processes(self.folder.name, job()["id"], 1, nodes - 1):
            os.kill(process, signal.SIGKILL)
        eventually(lambda: len(job()["attempts"]) == 2, f"the second attempt of {name}")
        resume_step = job()["attempts"][1]["resume_step"]
        self.assertGreater(resume_step, 0, name)
        eventually(lambda: max(self.cluster.steps(name)) > resume_step + 40,
                   f"steps of {name} after the resume")

    def check_stop(self, recipe, name):
        self.cluster.run("stop", name, "-y")
        job = lambda: self.cluster.describe(name)["job"]
        eventually(lambda: job()["state"] == "stopped", f"the end of {name}")
        ended = job()
        newest = max(one["step"] for one in ended["checkpoints"])
        last_step = ended["attempts"][1]["last_step"]
        if recipe in SAVES_ON_STOP:
            self.assertEqual(newest, last_step, name)
        # The program has not begun again: the first attempt lost only the steps after a checkpoint.
        steps = self.cluster.steps(name)
        self.assertEqual(len(steps), len(set(steps)), f"{name}: a step twice in the curve")
        self.assertLess(min(steps), 20, name)
        self.assertGreater(len(steps), (max(steps) - min(steps)) / 10 * 0.9, name)
        return ended

    def check(self, nodes):
        recipes = sorted(path.stem for path in RECIPES.glob("*.yaml"))
        names = {recipe: self.submit(recipe, nodes) for recipe in recipes}
        for recipe, name in names.items():
            with self.subTest(recipe=recipe, nodes=nodes):
                self.kill_and_resume(name, nodes)
                ended = self.check_stop(recipe, name)
                verdict = ended["attempts"][0]["verdict"]
                self.assertEqual(verdict["cause"], "rank_signaled", verdict)
                self.assertEqual(verdict["rank"], nodes - 1, verdict)

    def test_one_rank(self):
        self.check(1)

    def test_two_ranks_on_two_nodes(self):
        self.check(2)


class DocumentedCommandsTest(unittest.TestCase):
    """Each documented command runs in a copy of the recipes, as in a fresh clone."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "dev").mkdir()
        self.cluster = Cluster(self.folder / "dev")
        self.addCleanup(self.cluster.stop)
        self.clone = self.folder / "clone"
        shutil.copytree(RECIPES, self.clone / "recipes" / "programs")
        (self.clone / "arguments.txt").write_text("--num-layers 2\n--save-interval 20\n")

    def make_shared(self, command, recipe, job):
        """The directory /shared of a command, with a checkout of the recipe's small script."""
        shared = self.folder / f"shared-{job}"
        checkout = shared / re.search(r"/shared/([\w-]+)", command)[1]
        shutil.copytree(HERE / recipe, checkout)
        shutil.copy(HERE / "shape.py", shared)
        if recipe == "hf-trainer":
            shutil.copy(checkout / "train.py", checkout / "run_clm.py")
        return shared

    def run_documented(self, command, name):
        """Runs the command with the paths, the size and the devices of this machine."""
        recipe = re.search(r"programs/([\w-]+)\.yaml", command)[1]
        shared = self.make_shared(command, recipe, name)
        command = (f"{command.replace('/shared', str(shared))} --set name={name} "
                   "--set resources.device=cpu --set resources.slots_per_node=1")
        environment = dict(self.cluster.environment, TRAINYARD_SERVER=self.cluster.server,
                           PATH=f"{PROGRAMS}:{os.environ['PATH']}")
        done = subprocess.run(["/bin/sh", "-c", command], cwd=self.clone, env=environment,
                              stdin=subprocess.DEVNULL, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
        eventually(lambda: max(self.cluster.steps(name), default=0) >= 20, f"steps of {command}")
        self.cluster.run("kill", name, "-y")

    def test_each_command_trains(self):
        documents = [RECIPES.parent / "README.md", *sorted(RECIPES.glob("*.yaml"))]
        for document in documents:
            commands = documented_commands(document)
            self.assertEqual(len(commands), 1, f"{document} has no command")
            with self.subTest(document=document.name):
                self.run_documented(commands[0], f"from-{document.stem.lower()}")


class ReadmeTest(unittest.TestCase):
    def test_the_readme_names_each_recipe(self):
        readme = (RECIPES.parent / "README.md").read_text()
        for path in RECIPES.glob("*.yaml"):
            self.assertIn(f"| `{path.name}` |", readme)


if __name__ == "__main__":
    unittest.main(verbosity=2)
