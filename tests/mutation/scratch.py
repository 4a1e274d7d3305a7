"""Scratch worktree in which mutations are compiled and tested."""
import os
import pathlib
import re
import subprocess

# Folder -> the unit tests that determine the folder's mutation score.
TEST_OF_FOLDER = {"controller/core": "controller_core_test", "worker/core": "worker_core_test"}

# A change of one file recompiles only this file: no unity build, little optimisation, no debug
# information. Warnings are off because a mutation may leave a variable unused.
CONFIGURE = ["cmake", "--preset", "dev", "-DTRAINYARD_BUILD_TESTS=ON",
             "-DTRAINYARD_BUILD_TRAINER=OFF", "-DCMAKE_CXX_FLAGS=-w",
             "-DCMAKE_CXX_FLAGS_DEBUG=-O1"]
TEST_TIMEOUT_S = 60
_FAILED_TEST = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", re.MULTILINE)


def git(directory, *arguments):
    """Output of a git command, which must succeed."""
    command = ["git", "-C", str(directory), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def failing_test(output):
    """The name of the first test that failed, or "" when the program ended without naming one."""
    found = _FAILED_TEST.search(output)
    return found.group(1) if found else ""


class Scratch:
    """A worktree of HEAD with a build of its own; mutations are written into its files."""

    def __init__(self, directory, jobs):
        self.directory = pathlib.Path(directory).resolve()
        self.jobs = jobs

    def check_out(self, repository):
        """Brings the worktree to HEAD of the repository and undoes earlier mutations."""
        head = git(repository, "rev-parse", "HEAD")
        if self.directory.exists():
            git(self.directory, "checkout", "--quiet", "--force", "--detach", head)
        else:
            git(repository, "worktree", "add", "--quiet", "--detach", str(self.directory), head)

    def remove(self, repository):
        """Removes the worktree with its build."""
        git(repository, "worktree", "remove", "--force", str(self.directory))

    def configure(self):
        subprocess.run(CONFIGURE, cwd=self.directory, check=True, stdout=subprocess.DEVNULL)

    def build(self, target):
        """True when the target compiles; else its output is in build/mutation.log."""
        with open(self.directory / "build/mutation.log", "w", encoding="utf-8") as log:
            command = ["ninja", "-C", "build/dev", "-j", str(self.jobs), target]
            return subprocess.run(command, cwd=self.directory, stdout=log,
                                  stderr=subprocess.STDOUT, check=False).returncode == 0

    def program(self, target):
        """The target's program, which has been built."""
        for path in sorted((self.directory / "build/dev").rglob(target)):
            if path.is_file() and os.access(path, os.X_OK):
                return path
        raise FileNotFoundError(f"{target} was not built")

    def test(self, target):
        """None when the target's tests pass, else the reason of the failure."""
        command = [str(self.program(target)), "--gtest_brief=1", "--gtest_fail_fast"]
        try:
            done = subprocess.run(command, cwd=self.directory / "build/dev", text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  errors="replace", timeout=TEST_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return "timeout"
        if done.returncode == 0:
            return None
        if done.returncode < 0:
            return f"signal {-done.returncode}"
        return failing_test(done.stdout) or f"exit {done.returncode}"

    def read(self, path):
        return (self.directory / path).read_text(encoding="utf-8")

    def write(self, path, text):
        (self.directory / path).write_text(text, encoding="utf-8")
