"""The installed systemd units: their user exists, their programs know their flags, their places fit.

units_test.py BUILD_DIRECTORY
"""
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "systemd"
UNITS = sorted((BUILD / "deploy" / "systemd").glob("*.service"))


def settings(unit, name):
    return [line.split("=", 1)[1] for line in unit.read_text().splitlines()
            if line.startswith(name + "=")]


class UnitsTest(unittest.TestCase):
    def test_both_units_are_there(self):
        self.assertEqual([unit.stem for unit in UNITS], ["trainyard-controller", "trainyard-worker"])

    def test_their_user_is_declared(self):
        declared = re.findall(r"^u (\S+) ", (SOURCE / "trainyard.sysusers").read_text(), re.M)
        for unit in UNITS:
            for user in settings(unit, "User"):
                self.assertIn(user, declared, unit.name)

    def test_jobs_cannot_write_what_the_controller_has(self):
        controller, worker = UNITS
        users = [settings(unit, "User")[0] for unit in UNITS]
        self.assertNotEqual(*users)
        declared = (SOURCE / "trainyard.sysusers").read_text()
        # The token is for the controller's group.
        self.assertIn(f"m {users[1]} {users[0]}\n", declared)
        self.assertEqual(settings(worker, "SupplementaryGroups"), [users[0]])
        self.assertEqual(settings(controller, "StateDirectoryMode"), ["0750"])

    def test_jobs_may_write_checkpoints_and_the_controller_may_remove_them(self):
        controller, worker = UNITS
        root = dict(entry.split("=", 1) for entry in settings(controller, "Environment")
                    )["CHECKPOINT_ROOT"]
        users = [settings(unit, "User")[0] for unit in UNITS]
        self.assertIn(f"d {root} 2770 {users[1]} {users[0]}\n",
                      (SOURCE / "trainyard.tmpfiles").read_text())
        self.assertEqual(settings(worker, "UMask"), ["0007"])
        # With ProtectSystem=full, /var is writable, but not the directory of the other unit.
        self.assertFalse(root.startswith("/var/lib/" + settings(controller, "StateDirectory")[0] + "/"))

    def test_the_controller_comes_back_after_any_number_of_exits(self):
        controller = UNITS[0]
        self.assertEqual(settings(controller, "Restart"), ["always"])
        self.assertEqual(settings(controller, "StartLimitIntervalSec"), ["0"])

    def test_programs_know_their_flags(self):
        for unit in UNITS:
            command = settings(unit, "ExecStart")[0].split()
            help_text = subprocess.run([BUILD / "bin" / pathlib.Path(command[0]).name, "--help"],
                                       capture_output=True, text=True, check=True).stdout
            for word in command[1:]:
                if word.startswith("--"):
                    self.assertRegex(help_text, re.escape(word) + r"\b", unit.name)

    def test_variables_have_a_value(self):
        for unit in UNITS:
            given = {entry.split("=", 1)[0] for entry in settings(unit, "Environment")}
            used = set(re.findall(r"\$\{?(\w+)\}?", settings(unit, "ExecStart")[0]))
            self.assertEqual(used, given, unit.name)

    def test_data_directories_are_made(self):
        for unit in UNITS:
            directory = re.search(r"--data-dir (\S+)", settings(unit, "ExecStart")[0]).group(1)
            self.assertEqual(directory, "/var/lib/" + settings(unit, "StateDirectory")[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
