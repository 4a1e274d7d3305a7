#include "cli/convert/source/shell_script.h"

#include "gmock/gmock.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;

// Returns each command as "3: word|word", where 3 is the line of the command.
std::vector<std::string> Commands(const std::string& script) {
  std::vector<std::string> lines;
  const absl::StatusOr<ShellScript> split = SplitScript(script, {{"GIVEN", "from outside"}});
  EXPECT_TRUE(split.ok());
  for (const ScriptCommand& command : split->commands) {
    std::string line = std::to_string(command.front().line) + ": ";
    for (const ScriptWord& word : command) line += word.text + "|";
    lines.push_back(line);
  }
  return lines;
}

TEST(ShellScriptTest, SplitsCommandsAndLeavesRedirectionsOut) {
  EXPECT_THAT(Commands("a b; c && d | e # f\ng 2>&1 > out.txt h\\\n i & j < in\n"),
              ElementsAre("1: a|b|", "1: c|", "1: d|", "1: e|", "2: g|h|i|", "3: j|"));
}

TEST(ShellScriptTest, QuotesKeepBlanksAndSigns) {
  EXPECT_THAT(Commands("a 'b $GIVEN; c' \"d $GIVEN\" e\\ f ''\n"),
              ElementsAre("1: a|b $GIVEN; c|d from outside|e f||"));
}

TEST(ShellScriptTest, UnquotedVariablesAndListsAreSeveralWords) {
  EXPECT_THAT(Commands("ARGS=\"\n --x 1\n --y\"\nLIST=(\n  --z 'a b'  # c\n)\n"
                       "run $ARGS \"${LIST[@]}\" $GIVEN \"$ARGS2\" ${N:-8} $(date +%s)\n"),
              ElementsAre("7: run|--x|1|--y|--z|a|b|from|outside|$ARGS2|8|$(date +%s)|"));
}

TEST(ShellScriptTest, ExportsAreToldFromAssignments) {
  const absl::StatusOr<ShellScript> script = SplitScript("A=1\nexport B=2 C=$A\nD=4 run E=5\n");
  ASSERT_TRUE(script.ok());
  std::vector<std::string> exports;
  for (const ScriptVariable& variable : script->exports) {
    exports.push_back(variable.name + "=" + variable.value + "@" + std::to_string(variable.line) +
                      "," + std::to_string(variable.command));
  }
  EXPECT_THAT(exports, ElementsAre("B=2@2,-1", "C=1@2,-1", "D=4@3,0"));
  EXPECT_EQ(script->commands.front().size(), 2u);
}

TEST(ShellScriptTest, UnfinishedTextsEnd) {
  for (const char* text : {"a 'b", "a \"b", "a ${b", "a $(b", "a \\", "A=(b", "a $", "a >"}) {
    EXPECT_TRUE(SplitScript(text).ok()) << text;
  }
}

}  // namespace
}  // namespace trainyard::cli
