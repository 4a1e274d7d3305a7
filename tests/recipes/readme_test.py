"""The table of recipes/README.md lists each recipe with the prediction that the recipe states.

usage: readme_test.py
"""
import pathlib
import re
import unittest

RECIPES = pathlib.Path(__file__).resolve().parents[2] / "recipes"
CELLS = ("recipe", "model", "source", "corrections", "needs", "prediction")


def rows_of_the_table():
    """The rows of the section "Each recipe" by the name of their recipe."""
    section = (RECIPES / "README.md").read_text().split("\n## Each recipe\n")[1].split("\n## ")[0]
    rows = {}
    for line in section.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(CELLS) and cells[0].startswith("`"):
            rows[cells[0].strip("`")] = dict(zip(CELLS, cells))
    return rows


def expected_values(name):
    """The device, the number of nodes and GPUs, and the values of the line `# Expected on`."""
    text = (RECIPES / f"{name}.yaml").read_text()
    return re.search(r"# Expected on (\w+): (\d+ x \d+).*? parameters, (.*)\.\n", text)


class ReadmeTest(unittest.TestCase):
    def test_the_table_lists_every_recipe(self):
        recipes = {path.stem for path in RECIPES.glob("*.yaml")}
        self.assertGreater(len(recipes), 0)
        self.assertEqual(set(rows_of_the_table()), recipes)

    def test_the_table_has_the_values_of_the_recipes(self):
        compared = 0
        for name, row in rows_of_the_table().items():
            expected = expected_values(name)
            if expected is None:  # A recipe for CPUs has no prediction.
                continue
            compared += 1
            device, size, values = expected.groups()
            self.assertEqual(row["prediction"], values, name)
            self.assertEqual(row["needs"], f"{size} {device}", name)
        self.assertGreater(compared, 20)


if __name__ == "__main__":
    unittest.main()
