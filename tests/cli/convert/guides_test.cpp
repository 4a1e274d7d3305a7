// Converts every command and every configuration of the guides. A text that starts no training is
// refused; each line of a job file is explained, and each option of an input is accounted for.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/convert/convert.h"
#include "gmock/gmock.h"

namespace trainyard::cli {
namespace {

struct GuideFile {
  std::string name;
  std::string text;
};

std::vector<GuideFile> GuideFiles(const std::string& folder) {
  std::vector<GuideFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(
           absl::StrCat(CONVERT_TEST_DIRECTORY, "/fixtures/guides/", folder))) {
    std::ifstream in(entry.path());
    files.push_back({entry.path().filename(), {std::istreambuf_iterator<char>(in), {}}});
  }
  EXPECT_GE(files.size(), 20U) << folder;
  return files;
}

absl::StatusOr<ConvertedJob> ConvertedGuide(const GuideFile& file) {
  ConvertRequest request;
  request.sources = {{file.name, file.text}};
  return ConvertToJob(request);
}

std::vector<std::string> LinesOf(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

// Returns the line of the input that the comment names; 0 if it names none.
int NamedLine(const std::string& comment) {
  static const std::regex form("line (\\d+): .*");
  std::smatch found;
  int line = 0;
  if (!std::regex_match(comment, found, form)) return 0;
  EXPECT_TRUE(absl::SimpleAtoi(found[1].str(), &line));
  return line;
}

void CheckComment(const std::string& comment, const GuideFile& file) {
  const std::vector<std::string> lines = absl::StrSplit(file.text, '\n');
  const int line = NamedLine(comment);
  ASSERT_LE(line, static_cast<int>(lines.size())) << comment;
  const std::size_t option = comment.find("--");
  if (line == 0 || option == std::string::npos) return;
  std::string text = lines[static_cast<std::size_t>(line) - 1];
  std::replace(text.begin(), text.end(), '_', '-');
  EXPECT_TRUE(absl::StrContains(text, comment.substr(option + 2))) << comment << "\n" << text;
}

TEST(GuidesTest, EachLineOfAJobFileIsExplained) {
  for (const GuideFile& file : GuideFiles("converted")) {
    SCOPED_TRACE(file.name);
    const absl::StatusOr<ConvertedJob> job = ConvertedGuide(file);
    ASSERT_TRUE(job.ok()) << job.status();
    std::string values;
    for (const std::string& line : LinesOf(job->explained)) {
      const std::size_t comment = line.rfind("  # ");
      const bool is_section = comment == std::string::npos;
      EXPECT_EQ(is_section, line.back() == ':') << line;
      if (!is_section) CheckComment(line.substr(comment + 4), file);
      absl::StrAppend(&values, line.substr(0, line.find_last_not_of(' ', comment) + 1), "\n");
    }
    EXPECT_EQ(values, job->text);
  }
}

// Returns the options of Megatron-LM in a file of options: "micro-batch-size: 4".
std::vector<std::string> OptionsOf(const GuideFile& file) {
  static const std::regex form("^([a-z][a-z0-9-]+):.*");
  std::vector<std::string> options;
  for (const std::string& line : LinesOf(file.text)) {
    std::smatch found;
    if (std::regex_match(line, found, form)) options.push_back(found[1]);
  }
  return options;
}

TEST(GuidesTest, EachOptionIsTakenOrNamed) {
  int options = 0;
  for (const GuideFile& file : GuideFiles("converted")) {
    if (!absl::EndsWith(file.name, ".yaml")) continue;
    const absl::StatusOr<ConvertedJob> job = ConvertedGuide(file);
    ASSERT_TRUE(job.ok()) << job.status();
    std::string said = job->explained;
    for (const std::string& note : job->notes) absl::StrAppend(&said, note, "\n");
    for (const std::string& option : OptionsOf(file)) {
      ++options;
      // The number of groups says it.
      const std::string named = option == "group-query-attention" ? "num-query-groups" : option;
      EXPECT_TRUE(absl::StrContains(said, "--" + named)) << file.name << ": " << option << "\n"
                                                         << said;
    }
  }
  EXPECT_GT(options, 150);
}

TEST(GuidesTest, ATextThatStartsNoTrainingIsRefusedWithItsNameAndAReason) {
  for (const GuideFile& file : GuideFiles("refused")) {
    const absl::StatusOr<ConvertedJob> job = ConvertedGuide(file);
    EXPECT_TRUE(absl::IsInvalidArgument(job.status())) << file.name;
    EXPECT_TRUE(absl::StartsWith(job.status().message(), file.name + ": ")) << job.status();
  }
}

}  // namespace
}  // namespace trainyard::cli
