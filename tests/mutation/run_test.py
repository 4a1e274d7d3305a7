"""The mutation run without a compiler: mutations that are found, the choice, the score."""
import collections
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import cpp_text
import mutations
import run
import score

ROOT = pathlib.Path(__file__).resolve().parents[2]


def changes(text, kind):
    """Pairs of text and replacement that are found."""
    return [(found.before, found.after) for found in mutations.find("a.cpp", text)
            if found.kind == kind]


def mutated(text, kind):
    """The text with the one mutation of this kind."""
    found, = [found for found in mutations.find("a.cpp", text) if found.kind == kind]
    return found.apply(text)


class CodeOf(unittest.TestCase):
    def test_only_code_is_left(self):
        for hidden in ("// a < b", "/* a < b\n c */", 'x("a < b \\" < c");', "x(' < ');",
                       '#include <a < b>', 'x(R"y(a < b)" < c)y");', "template <int a < b>",
                       "static_assert(f(a) < b);", "LOG(a < b);", "spdlog::info(a < b);"):
            code = cpp_text.code_of(hidden)
            self.assertNotIn("<", code, hidden)
            self.assertEqual(len(code), len(hidden))
            self.assertEqual(code.count("\n"), hidden.count("\n"))

    def test_a_digit_separator_opens_no_character(self):
        self.assertIn("a < b", cpp_text.code_of("1'000 + a < b; x = '\\'';"))


class Find(unittest.TestCase):
    def test_operators(self):
        text = "x = a < b && c >= d || e == f + g - h;"
        self.assertEqual(changes(text, "operator"),
                         [("<", "<="), ("&&", "||"), (">=", ">"), ("||", "&&"), ("==", "!="),
                          ("+", "-"), ("-", "+")])

    def test_types_and_references_have_no_operators(self):
        self.assertEqual(changes("std::map<int, F<3>> x; auto&& y = *p->z; w = -v; o << 1;",
                                 "operator"), [])

    def test_conditions(self):
        self.assertEqual(mutated('if (a("(", b) && c) d();', "condition"),
                         'if (!(a("(", b) && c)) d();')
        self.assertEqual(mutated("if (const int a = b(); a > 0) c();", "condition"),
                         "if (const int a = b();!(a > 0)) c();")
        self.assertEqual(mutated("if (any(l, [] { return 1; })) c();", "condition"),
                         "if (!(any(l, [] { return 1; }))) c();")

    def test_a_condition_that_declares_is_kept(self):
        self.assertEqual(changes("if (const auto a = b()) c();", "condition"), [])
        self.assertEqual(changes("if (Rank* a = b(c == d)) e();", "condition"), [])

    def test_booleans_and_integers(self):
        text = "x = f(true, false, 0, 1'000, 2.5, a1, 0x10, std::array<int, 3>{});"
        self.assertEqual(changes(text, "boolean"), [("true", "false"), ("false", "true")])
        self.assertEqual(changes(text, "integer"), [("0", "1"), ("1'000", "1001")])

    def test_results_of_bool_functions(self):
        text = "int F(int a) {\n  return a;\n}\n\nbool G(int b) {\n  return b > 1;\n}\n"
        self.assertEqual(changes(text, "return"), [("b > 1", "!(b > 1)")])
        method = "class A {\n  bool F(int a) const { return a; }\n  int G() { return 1; }\n};\n"
        self.assertEqual(changes(method, "return"), [("a", "!(a)")])

    def test_calls_that_are_statements(self):
        text = 'a.b(1);\nX_ASSIGN_OR_RETURN(int c, d(2));\nif (e()) f(")")\n    ->g().h();\nreturn i();\n} j();'
        self.assertEqual([before for before, _ in changes(text, "call")],
                         ['f(")")\n    ->g().h();', "j();"])
        self.assertEqual(mutated("{ if (a) b(); }", "call"), "{ if (a) {} }")

    def test_a_mutation_knows_its_line(self):
        found, = mutations.find("a.cpp", "\n\n  x = a < b;\n")
        self.assertEqual((found.line, found.source, found.column), (3, "x = a < b;", 6))
        self.assertEqual(str(found), "a.cpp:3: operator: `<` -> `<=`")
        with self.assertRaises(ValueError):
            found.apply("something else")


class Choice(unittest.TestCase):
    def setUp(self):
        self.candidates = mutations.find("a.cpp", "x = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8;")

    def test_the_seed_decides(self):
        first = run.pick(self.candidates, 5, 1)
        self.assertEqual(len(first), 5)
        self.assertEqual(first, run.pick(self.candidates, 5, 1))
        self.assertNotEqual(first, run.pick(self.candidates, 5, 2))
        self.assertEqual(first, sorted(first, key=lambda mutation: mutation.offset))

    def test_more_than_there_are_is_all(self):
        self.assertEqual(run.pick(self.candidates, 100, 1), self.candidates)

    def test_a_list_names_mutations_again(self):
        entries = json.loads(score.as_json(self.candidates[3:5]))
        self.assertEqual(score.select(self.candidates, entries), self.candidates[3:5])
        entries[0]["source"] = "y = 1;"
        with self.assertRaises(ValueError):
            score.select(self.candidates, entries)


class Fake:
    """A scratch worktree whose build and test answer as told."""

    def __init__(self, builds, reasons):
        self.builds = builds
        self.reasons = reasons
        self.text = "x = a < b;"
        self.seen = []

    def read(self, _):
        return self.text

    def write(self, _, text):
        self.text = text

    def build(self, target):
        self.seen.append((target, self.text))
        return self.builds

    def test(self, target):
        return self.reasons.get(target)


class Judge(unittest.TestCase):
    def try_one(self, scratch, also=()):
        found, = mutations.find("worker/core/a.cpp", scratch.text)
        verdict = run.try_mutation(found, also, scratch)
        self.assertEqual(scratch.text, "x = a < b;")
        return verdict

    def test_verdicts(self):
        own = "worker_core_test"
        self.assertEqual(self.try_one(Fake(True, {own: "A.B"})), (score.KILLED, "A.B"))
        self.assertEqual(self.try_one(Fake(True, {}))[0], score.ALIVE)
        self.assertEqual(self.try_one(Fake(False, {own: "A.B"}))[0], score.NOT_COUNTED)

    def test_other_programs_are_a_second_chance(self):
        scratch = Fake(True, {"other": "timeout"})
        self.assertEqual(self.try_one(scratch, ["other"]), (score.KILLED, "timeout"))
        self.assertEqual(scratch.seen, [("worker_core_test", "x = a <= b;"),
                                        ("other", "x = a <= b;")])


class Score(unittest.TestCase):
    def test_only_killed_and_alive_count(self):
        counts = collections.Counter({score.KILLED: 19, score.ALIVE: 1, score.EQUIVALENT: 3,
                                      score.NOT_COUNTED: 7})
        self.assertEqual(score.score(counts), 0.95)
        self.assertIsNone(score.score(collections.Counter()))

    def test_table(self):
        results = [("w", score.KILLED), ("c", score.KILLED), ("c", score.ALIVE),
                   ("c", score.NOT_COUNTED), ("w", score.EQUIVALENT)]
        self.assertEqual(score.table(results).split("\n")[2:], [
            "| c | 1 | 1 | 0 | 1 | 50.0 % |",
            "| w | 1 | 0 | 1 | 0 | 100.0 % |",
            "| all | 2 | 1 | 1 | 1 | 66.7 % |"])

    def test_the_report_lists_the_alive(self):
        found, = mutations.find("a/b.cpp", "x = a < b;")
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "alive.json"
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                run.report([(found, score.ALIVE), (found, score.KILLED)], file)
            self.assertIn("| a | 1 | 1 | 0 | 0 | 50.0 % |", printed.getvalue())
            self.assertEqual([score.key_of(entry) for entry in json.loads(file.read_text())],
                             [found.key()])


class Sources(unittest.TestCase):
    def test_each_core_folder_has_mutations_of_each_kind(self):
        for folder in run.TEST_OF_FOLDER:
            kinds = {found.kind for found in run.find_all(ROOT, [folder])}
            self.assertEqual(kinds, {"operator", "condition", "boolean", "integer", "return",
                                     "call"})

    def test_equivalent_mutations_still_exist_and_say_why(self):
        entries = json.loads(run.EQUIVALENT_FILE.read_text(encoding="utf-8"))
        found = score.select(run.find_all(ROOT, run.TEST_OF_FOLDER), entries)
        self.assertEqual(len(found), len(entries), "two lines of a file read the same")
        for entry in entries:
            self.assertGreater(len(entry["why"]), 20, entry)


if __name__ == "__main__":
    unittest.main()
