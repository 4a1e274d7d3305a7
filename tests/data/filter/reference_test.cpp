// Compares the guide's filter and all signals with reference.py on generated and real texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "data/filter/filter.h"
#include "proto/text/utf8.h"
#include "tests/data/filter/generated_documents.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kGeneratedTexts = 1000;
constexpr size_t kRealTexts = 150;
constexpr size_t kMaxRealBytes = 200000;

std::vector<std::string> GeneratedTexts() {
  std::vector<std::string> texts{"", " ", "\n", "\n\n\n", "a", "\na\n", "\n\n a\n\n\na \n\n"};
  for (size_t i = 0; i < kGeneratedTexts; ++i) texts.push_back(DocumentGenerator(i).Next());
  return texts;
}

// Licenses and documentation of this machine.
std::vector<std::string> RealTexts() {
  std::vector<std::string> paths;
  std::error_code error;
  for (const char* directory : {"/usr/share/doc", "/usr/share/common-licenses"}) {
    for (fs::recursive_directory_iterator file(directory, error), end; !error && file != end;
         file.increment(error)) {
      if (file->is_regular_file(error) && file->file_size(error) <= kMaxRealBytes) {
        paths.push_back(file->path().string());
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  const size_t step = std::max<size_t>(paths.size() / kRealTexts, 1);
  for (size_t i = 0; i < paths.size(); i += step) {
    std::string text = ReadFile(paths[i]);
    if (IsUtf8(text)) texts.push_back(std::move(text));
  }
  return texts;
}

bool HasPython() { return std::system("python3 -c '' > /dev/null 2>&1") == 0; }

// Returns the lines that reference.py prints.
std::vector<std::string> RunReference(const std::vector<std::string>& texts) {
  const TemporaryDirectory directory;
  std::string input;
  for (const std::string& text : texts) input += std::to_string(text.size()) + "\n" + text;
  WriteFile(directory.File("texts"), input);
  const std::string command =
      std::string("python3 -B ") + FILTER_REFERENCE + " " + directory.File("texts") + " " +
      absl::StrJoin(Filter::SignalNames(), ",") + " > " + directory.File("signals");
  if (std::system(command.c_str()) != 0) return {};
  std::istringstream output(ReadFile(directory.File("signals")));
  std::vector<std::string> lines;
  for (std::string line; std::getline(output, line);) lines.push_back(line);
  return lines;
}

void ExpectSignals(const std::string& text, const std::vector<std::string>& expected,
                   FilterWorkspace& workspace) {
  const std::vector<std::string> names = Filter::SignalNames();
  std::vector<double> values;
  Filter::MeasureAll(text, workspace, &values);
  ASSERT_EQ(expected.size(), names.size() + 1);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(values[i], std::strtod(expected[i + 1].c_str(), nullptr)) << names[i];
  }
}

// Returns the number of texts compared.
size_t ExpectReference(const std::vector<std::string>& texts) {
  const std::vector<std::string> lines = RunReference(texts);
  EXPECT_EQ(lines.size(), texts.size());
  if (lines.size() != texts.size()) return 0;
  const Filter guide = *Filter::Load("guide");
  FilterWorkspace workspace;
  size_t compared = 0;
  for (size_t i = 0; i < texts.size() && !testing::Test::HasFailure(); ++i) {
    if (lines[i] == "skip") continue;
    SCOPED_TRACE(testing::Message() << "text " << i << ": " << texts[i].substr(0, 2000));
    const std::vector<std::string> expected = absl::StrSplit(lines[i], '\t');
    EXPECT_EQ(guide.Judge(texts[i], workspace).kept(), expected[0] == "1");
    ExpectSignals(texts[i], expected, workspace);
    ++compared;
  }
  return compared;
}

TEST(FilterReferenceTest, GeneratedTextsHaveTheSameSignals) {
  ASSERT_TRUE(HasPython()) << "run `deploy/dependencies.sh test`";
  EXPECT_GT(ExpectReference(GeneratedTexts()), kGeneratedTexts / 2);
}

TEST(FilterReferenceTest, RealTextsHaveTheSameSignals) {
  ASSERT_TRUE(HasPython()) << "run `deploy/dependencies.sh test`";
  const std::vector<std::string> texts = RealTexts();
  EXPECT_GE(ExpectReference(texts) * 2, texts.size());
}

}  // namespace
}  // namespace trainyard::data
