// Runs the README's commands exactly as written.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

constexpr char kRoot[] = SOURCE_ROOT;
constexpr std::string_view kCodeIndent = "    ";

// Returns the text between a heading and the next heading.
std::string Section(const std::string& markdown, const std::string& heading) {
  const std::size_t begin = markdown.find(absl::StrCat("\n## ", heading, "\n"));
  if (begin == std::string::npos) return "";
  return markdown.substr(begin, markdown.find("\n## ", begin + 1) - begin);
}

// Returns the lines of all code blocks in order, without indentation.
std::vector<std::string> CodeLines(const std::string& markdown) {
  std::vector<std::string> lines;
  const std::vector<std::string> all = absl::StrSplit(markdown, '\n');
  for (const std::string& line : all) {
    if (line.starts_with(kCodeIndent)) lines.push_back(line.substr(kCodeIndent.size()));
  }
  return lines;
}

// Returns a script that runs `lines` and ends at the first command whose result differs from the
// README.
std::string ScriptOf(const std::vector<std::string>& lines, const std::string& scratch) {
  std::string script = "set -euo pipefail\n";
  for (const std::string& line : lines) {
    if (line == "trainyard dev") continue;  // It already runs in another terminal.
    const std::size_t refused = line.find("# refused");
    if (refused == std::string::npos) {
      absl::StrAppend(&script, line, "\n");
    } else {
      absl::StrAppend(&script, line.substr(0, refused), "&& exit 99 || true\n");
    }
  }
  return absl::StrReplaceAll(script, {{"$PWD/build/release/bin", PROGRAM_DIRECTORY},
                                      {"/tmp/", absl::StrCat(scratch, "/")}});
}

// Returns the number after the last occurrence of `words` in the text; 0 if there is no such
// number.
double NumberAfter(const std::string& words, const std::string& text) {
  const std::size_t found = text.rfind(words);
  double number = 0;
  if (found == std::string::npos) return number;
  const std::size_t begin = text.find_first_not_of(' ', found + words.size());
  const std::size_t end = text.find_first_not_of("0123456789.", begin);
  EXPECT_TRUE(absl::SimpleAtod(text.substr(begin, end - begin), &number)) << words;
  return number;
}

// Runs `trainyard dev` as in the README's first terminal, but with a separate port and folder.
class DevTerminal {
 public:
  explicit DevTerminal(const std::string& directory)
      : log_(directory + "/dev.log"),
        // Sets HOME, because the commands find the token through a link in the home directory.
        process_({"/usr/bin/env", "HOME=" + directory, ProgramPath("trainyard"), "dev", "--listen",
                  "127.0.0.1:0", "--data-dir", directory + "/dev"},
                 log_) {}

  // Returns the address to which jobs can be submitted; "" if `trainyard dev` does not become
  // ready.
  std::string WaitForAddress() const {
    Eventually([this] { return absl::StrContains(Text(), "ready;"); });
    constexpr std::string_view kBegin = "controller  ";
    const std::vector<std::string> lines = absl::StrSplit(Text(), '\n');
    for (const std::string& line : lines) {
      if (line.starts_with(kBegin)) return line.substr(kBegin.size());
    }
    return "";
  }
  std::optional<int> CtrlC() {
    process_.Signal(SIGINT);
    return process_.Wait();
  }
  std::string Text() const { return ReadFile(log_); }

 private:
  const std::string log_;
  ChildProcess process_;
};

TEST(ReadmeTest, FirstOwnJobWorksAsWritten) {
  const std::string section =
      Section(ReadFile(absl::StrCat(kRoot, "/README.md")), "Your own first job");
  const std::vector<std::string> lines = CodeLines(section);
  ASSERT_THAT(lines, testing::Contains("trainyard dev"));
  const TemporaryDirectory scratch;
  DevTerminal dev(scratch.path());
  const std::string address = dev.WaitForAddress();
  ASSERT_FALSE(address.empty()) << dev.Text();
  const auto type = [&](const std::string& script) {
    return RunCommand({"/usr/bin/env", "-C", kRoot, absl::StrCat("HOME=", scratch.path()),
                       absl::StrCat("TRAINYARD_SERVER=", address), "/bin/bash", "-c", script},
                      Seconds(200));
  };

  const CommandResult typed = type(ScriptOf(lines, scratch.path()));
  ASSERT_EQ(typed.exit_code, 0) << typed.output << typed.error;
  EXPECT_THAT(typed.error, HasSubstr("resources.nodes"));  // The last command is rejected.

  // A loss below the entropy shows that the run has learned more than the token frequencies.
  const double entropy = NumberAfter("entropy", typed.output);
  const double loss = NumberAfter("validation loss", typed.output);
  EXPECT_GT(entropy, 1);
  EXPECT_GT(loss, 0);
  EXPECT_LT(loss, 0.9 * entropy) << typed.output;

  // Makes one of the mistakes that the README invites the reader to try.
  const auto mistake = [&](const std::string& words, const std::string& answer) {
    EXPECT_THAT(section, HasSubstr(words));
    const CommandResult refused = type(absl::StrCat(PROGRAM_DIRECTORY, "/trainyard submit ",
                                                    scratch.path(), "/mine.yaml ", words));
    EXPECT_EQ(refused.exit_code, 2) << refused.error;
    EXPECT_THAT(refused.error, HasSubstr(answer));
  };
  mistake("--set train.stpes=5", "train.steps");
  mistake("--set layout.dp=3", "layout.dp");

  EXPECT_EQ(dev.CtrlC(), 0) << dev.Text();
}

// Returns the trainyard commands at the start of a code line or a code span in any README.
std::set<std::string> NamedCommands() {
  std::set<std::string> commands;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           kRoot, std::filesystem::directory_options::skip_permission_denied)) {
    const std::string path = entry.path().string();
    if (entry.path().filename() != "README.md" || absl::StrContains(path, "/node_modules/") ||
        absl::StrContains(path, "/build/")) {
      continue;
    }
    const std::string text = ReadFile(path);
    for (const std::string_view start : {"`trainyard ", "\n    trainyard "}) {
      for (std::size_t at = 0; (at = text.find(start, at)) != std::string::npos;) {
        at += start.size();
        const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at);
        if (end > at) commands.insert(text.substr(at, end - at));
      }
    }
  }
  return commands;
}

TEST(ReadmeTest, EveryCommandThatIsNamedExists) {
  const std::set<std::string> commands = NamedCommands();
  EXPECT_GT(commands.size(), 10u);
  for (const std::string& command : commands) {
    const CommandResult help = RunCommand({ProgramPath("trainyard"), command, "--help"});
    // If the command did not exist, the CLI would print the general help instead.
    EXPECT_THAT(help.output, HasSubstr(absl::StrCat("Usage: trainyard ", command, " ")));
  }
}

}  // namespace
}  // namespace trainyard::test
