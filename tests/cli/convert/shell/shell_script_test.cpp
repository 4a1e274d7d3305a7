#include "cli/convert/shell/shell_script.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ShellScript Evaluated(const std::string& text) {
  absl::StatusOr<ShellScript> script = EvaluateScript(text, StateOf({{"GIVEN", "from outside"}}));
  EXPECT_TRUE(script.ok()) << script.status() << "\n" << text;
  return script.ok() ? *std::move(script) : ShellScript();
}

// Returns each command as "3: word|word", where 3 is the line of the command. A word whose value is
// not in the script is in angle brackets.
std::vector<std::string> Commands(const std::string& text) {
  std::vector<std::string> lines;
  for (const ScriptCommand& command : Evaluated(text).commands) {
    std::string line = absl::StrCat(command.front().line, ": ");
    for (const ScriptWord& word : command) {
      absl::StrAppend(&line, word.open.empty() ? word.text : absl::StrCat("<", word.text, ">"),
                      "|");
    }
    lines.push_back(line);
  }
  return lines;
}

// Returns the words of the only command, which is on the last line.
std::string Words(const std::string& text) {
  const std::vector<std::string> commands = Commands(text);
  EXPECT_EQ(commands.size(), 1u) << text;
  return commands.empty() ? "" : commands[0].substr(commands[0].find(' ') + 1);
}

std::vector<std::string> Notes(const std::string& text) {
  std::vector<std::string> notes;
  for (const ScriptNote& note : Evaluated(text).notes) {
    notes.push_back(absl::StrCat(note.line, ": ", note.text));
  }
  return notes;
}

std::string Error(const std::string& text) {
  return std::string(EvaluateScript(text).status().message());
}

TEST(ShellScriptTest, SplitsCommandsAndLeavesRedirectionsOut) {
  EXPECT_THAT(
      Commands("a b; c && d | e # f\ng 2>&1 > out.txt h\\\n i k\\\nl & j < in\nk &>log >>x 2>/x"),
      ElementsAre("1: a|b|", "1: c|", "1: d|", "1: e|", "2: g|h|i|kl|", "4: j|", "5: k|"));
}

TEST(ShellScriptTest, QuotesKeepBlanksAndSigns) {
  EXPECT_EQ(Words("a 'b $GIVEN; c' \"d $GIVEN\" e\\ f '' \"it's\" $'x\\ty' \"\\$A \\n\"\n"),
            "a|b $GIVEN; c|d from outside|e f||it's|x\ty|$A \\n|");
}

TEST(ShellScriptTest, UnquotedVariablesAndListsAreSeveralWords) {
  EXPECT_THAT(Commands("ARGS=\"\n --x 1\n --y\"\nLIST=(\n  --z 'a b'  # it's one word\n)\n"
                       "run $ARGS \"${LIST[@]}\" $GIVEN \"$ARGS2\" ${N:-8} $(date +%s)\n"),
              ElementsAre("7: run|--x|1|--y|--z|a b|from|outside|<$ARGS2>|8|<$(date +%s)>|"));
  EXPECT_EQ(Words("L=()\nrun \"${L[@]}\" ${L[@]} \"\" \"${L[*]}\""), "run|||");
  EXPECT_EQ(Words("L=(a 'b c')\nrun ${#L[@]} ${L[1]} \"${L[1]}\" ${L} \"${L[*]}\" ${L[-1]}"),
            "run|2|b|c|b c|a|a b c|b|c|");
}

TEST(ShellScriptTest, DefaultsLoseTheirQuotes) {
  EXPECT_EQ(Words("A=${1:-\"x y\"}\nB=${2:-'z'}\nrun $A \"$B\" ${C:-\"p q\"} ${D-r s}"),
            "run|x|y|z|p q|r|s|");
  EXPECT_EQ(Words("E=\nrun a${E:-1} b${E-2} c${E:+3} ${GIVEN:+4} ${F:=5} $F"), "run|a1|b|c|4|5|5|");
}

TEST(ShellScriptTest, ListsAndTextsGrow) {
  EXPECT_EQ(Words("A=(x)\nA+=(y 'z w')\nB=1\nB+=2\nrun \"${A[@]}\" $B"), "run|x|y|z w|12|");
}

TEST(ShellScriptTest, ArithmeticIsExact) {
  EXPECT_EQ(Words("N=2\nG=4\nrun $((N * G)) $(( (N+1)**G % 7 )) $((N > G ? 1 : 0)) $ 5$"),
            "run|8|4|0|$|5$|");
  EXPECT_EQ(Words("((N=3, N++))\nlet M=N*2\nrun $N $M $((0x10 + 010)) $((1<<40))"),
            "run|4|8|24|1099511627776|");
  EXPECT_EQ(Words("run $((9223372036854775807 + 1)) $((1 / 0)) $((UNSET * 2)) $((1 +))"),
            "run|<$((9223372036854775807 + 1))>|<$((1 / 0))>|<$((UNSET * 2))>|<$((1 +))>|");
  EXPECT_EQ(Words("run $[1+1]"), "run|<$[1+1]>|");
  EXPECT_EQ(Words("A=B+B\nB=A+A\nrun $((A))"), "run|<$((A))>|");
}

TEST(ShellScriptTest, ParametersAreEdited) {
  EXPECT_EQ(Words("F=/a/b.tar.gz\nrun ${F##*/} ${F%.*} ${F%%.*} ${F#/} ${F/a/c} ${F//a/c} ${#F} "
                  "${F:1:3} ${F^^} ${F: -2}"),
            "run|b.tar.gz|/a/b.tar|/a/b|a/b.tar.gz|/c/b.tar.gz|/c/b.tcr.gz|11|a/b|/A/B.TAR.GZ|gz|");
  EXPECT_EQ(Words("A=x\nB=A\nrun ${!B} \"$(dirname \"/p/q\")\" $(basename /p/q.sh .sh) $(seq 1 3) "
                  "`echo a b` $(printf '%s-%d' u 7)"),
            "run|x|/p|q|1|2|3|a|b|u-7|");
}

TEST(ShellScriptTest, BracesExpandAndFilesAreOpen) {
  EXPECT_EQ(Words("run a{b,c}d {1..3} {08..10} {x} '{a,b}' data/*.bin \"*\" ~/x m=[1,2]"),
            "run|abd|acd|1|2|3|08|09|10|{x}|{a,b}|<data/*.bin>|*|<~/x>|m=[1,2]|");
}

TEST(ShellScriptTest, FalseBranchesContributeNothing) {
  EXPECT_EQ(Words("A=1\nif [ \"no\" = \"yes\" ]; then A=2; elif [[ $A == 1 && -n $A ]]; then\n"
                  "  A=3\nelse A=4; fi\n[ $A -ge 3 ] && A=$((A + 1)) || A=9\nrun $A"),
            "run|4|");
  EXPECT_EQ(Words("case h100-8 in a*) X=1 ;; h100*|b) X=2 ;; *) X=3 ;; esac\nrun $X"), "run|2|");
  EXPECT_EQ(Words("if false || ! true; then X=1; else X=2; fi\nif (( 2 > 1 )); then Y=1; fi\n"
                  "run $X $Y"),
            "run|2|1|");
}

TEST(ShellScriptTest, BranchesThatDependOnSomethingElseAreSaid) {
  const std::string script =
      "A=1\nif [ -f data.bin ]; then\n  A=2\n  other\nfi\ngrep -q x y && A=3\n"
      "[ -d venv ] && source venv/bin/activate\nrun $A\n";
  EXPECT_THAT(Commands(script), ElementsAre("6: grep|-q|x|y|", "8: run|3|"));
  EXPECT_THAT(Notes(script),
              ElementsAre(AllOf(HasSubstr("2: `if [ -f data.bin ]`: the condition depends on "
                                          "something outside the script"),
                                HasSubstr("left out up to line 5")),
                          HasSubstr("7: `source venv/bin/activate`: left out")));
  // Only a message and an exit: nothing is lost.
  EXPECT_THAT(Notes("if [ ! -f x.py ]; then\n echo no; exit 1\nfi\n[ -f y ] || exit 1\nrun"),
              IsEmpty());
  EXPECT_THAT(Notes("for f in $(ls); do run $f; done"), ElementsAre(HasSubstr("1: `for f in")));
  EXPECT_THAT(Notes("[ -z \"$N\" ] && N=4\nrun $N"),
              ElementsAre(HasSubstr("1: $N is not set in the script and is taken as unset")));
}

TEST(ShellScriptTest, LoopsRunWithinLimits) {
  EXPECT_THAT(Commands("for lr in 1 2; do run $lr; done\nfor ((i=0;i<2;i++)); do go $i; done\n"
                       "while true; do again; done\nuntil false; do break; done"),
              ElementsAre("1: run|1|", "1: run|2|", "2: go|0|", "2: go|1|", "3: again|"));
  EXPECT_THAT(Notes("while true; do again; done"), ElementsAre(HasSubstr("converted once")));
  EXPECT_THAT(Error("while true; do A=1; done"), HasSubstr("runs for more than 20000 commands"));
  EXPECT_THAT(Error("f() { f; }\nf"), HasSubstr("nested too deeply"));
  EXPECT_THAT(
      Commands("for a in 1 2 3; do for b in 1 2; do [ $b = 2 ] && continue 2; run $a; done; "
               "done"),
      ElementsAre("1: run|1|", "1: run|2|", "1: run|3|"));
}

TEST(ShellScriptTest, FunctionsHaveArgumentsAndLocals) {
  EXPECT_THAT(
      Commands("N=9\nrun() {\n  local N=$1 M; shift\n  go \"$N\" \"$@\" $#\n  return\n  no\n}\n"
               "run 8 a 'b c'\nshow $N $M"),
      ElementsAre("4: go|8|a|b c|2|", "9: show|9|<$M>|"));
  EXPECT_THAT(Commands("function f { exit 0; }\na\nf\nb"), ElementsAre("2: a|"));
  EXPECT_THAT(Commands("(A=2; go $A)\nA=1\n(A=2)\nrun $A"), ElementsAre("1: go|2|", "4: run|1|"));
}

TEST(ShellScriptTest, HereDocumentsAreFiles) {
  const ShellScript script = Evaluated(
      "B=8\ncat <<EOT > out.json\n{\"b\": $B}\nif\nEOT\ncat <<-'X' | python -\n\t$B\n\tX\nrun\n");
  ASSERT_EQ(script.files.size(), 1u);
  EXPECT_EQ(script.files[0].path, "out.json");
  EXPECT_EQ(script.files[0].text, "{\"b\": 8}\nif\n");
  ASSERT_EQ(script.commands.size(), 4u);
  EXPECT_TRUE(script.readers.contains(1));
  EXPECT_EQ(script.commands[3].front().text, "run");
}

TEST(ShellScriptTest, ExportsAreToldFromAssignments) {
  std::vector<std::string> exports;
  const ShellScript script =
      Evaluated("A=1\nexport B=2 C=$A\nD=4 run E=5\nexport A\nA=6\nexport F=$X\nenv G=7 go\n");
  for (const ScriptVariable& variable : script.exports) {
    exports.push_back(absl::StrCat(variable.name, "=", variable.value, "@", variable.line, ",",
                                   variable.command, variable.open.empty() ? "" : " open"));
  }
  EXPECT_THAT(exports, ElementsAre("B=2@2,-1", "C=1@1,-1", "D=4@3,0", "A=1@1,-1", "A=6@5,-1",
                                   "F=$X@6,-1 open", "G=7@7,1"));
  EXPECT_EQ(script.commands.front().size(), 2u);
}

TEST(ShellScriptTest, StateIsForTheNextScript) {
  const ShellScript first = Evaluated("A=(x y)\nf() { go \"$1\"; }\n");
  const absl::StatusOr<ShellScript> second = EvaluateScript("f ${A[1]}\n", first.state);
  ASSERT_TRUE(second.ok());
  ASSERT_EQ(second->commands.size(), 1u);
  EXPECT_EQ(second->commands[0][1].text, "y");
}

TEST(ShellScriptTest, LineEndsOfOtherSystemsAreRead) {
  EXPECT_THAT(Commands("run a \\\r\n  b\r\n"), ElementsAre("1: run|a|b|"));
  EXPECT_THAT(Notes("run a\r\n"), ElementsAre(HasSubstr("CR LF")));
  EXPECT_THAT(Commands("run a \\ \n  b\n"), ElementsAre("1: run|a|b|"));
  EXPECT_THAT(Notes("run a \\ \n  b\n"), ElementsAre(HasSubstr("1: blanks follow the backslash")));
}

TEST(ShellScriptTest, TextsThatAreNoShellAreRefusedWithTheLine) {
  EXPECT_THAT(Error("a\nb 'c"), HasSubstr("line 2: a quote"));
  EXPECT_THAT(Error("a \"b"), HasSubstr("not closed"));
  EXPECT_THAT(Error("a ${b"), HasSubstr("not closed"));
  EXPECT_THAT(Error("a $(b"), HasSubstr("not closed"));
  EXPECT_THAT(Error("A=(b"), HasSubstr("not closed"));
  EXPECT_THAT(Error("a >"), HasSubstr("has no target"));
  EXPECT_THAT(Error("if true; then\n a\n"), HasSubstr("line 3: `fi` is missing"));
  EXPECT_THAT(Error("a\n)"), HasSubstr("line 2: `)` is not expected here"));
  EXPECT_THAT(Error("a &&\n"), HasSubstr("ends before a command is complete"));
  for (const char* text : {"a \\", "a $", "", "\n#\n", "a &", "# it's"}) {
    EXPECT_TRUE(EvaluateScript(text).ok()) << text;
  }
}

TEST(ShellScriptTest, DeepTextsAreRefused) {
  std::string groups, substitutions = "run ", braces = "run ";
  for (int i = 0; i < 5000; ++i) {
    groups += "{ ";
    substitutions += "$(echo ";
    braces += "${A:-";
  }
  EXPECT_FALSE(EvaluateScript(groups).ok());
  EXPECT_FALSE(EvaluateScript(substitutions).ok());
  EXPECT_FALSE(EvaluateScript(braces).ok());
  EXPECT_EQ(Words("run $((" + std::string(5000, '(') + "1" + std::string(5000, ')') + "))"),
            absl::StrCat("run|<$((", std::string(5000, '('), "1", std::string(5000, ')'), "))>|"));
}

TEST(ShellScriptTest, VariablesCannotGrowWithoutEnd) {
  std::string script = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 40; ++i) script += "A=$A$A\n";
  EXPECT_THAT(Error(script), HasSubstr("grow without limit"));
}

TEST(ShellWordsTest, ALineGivesItsWords) {
  EXPECT_THAT(ShellWordsOf(" --nodes=4  -C \"a&b\" # four"), ElementsAre("--nodes=4", "-C", "a&b"));
  EXPECT_THAT(ShellWordsOf("--x='a"), IsEmpty());
}

}  // namespace
}  // namespace trainyard::cli
