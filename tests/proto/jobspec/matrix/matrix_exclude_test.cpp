#include "proto/jobspec/matrix/matrix_exclude.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/matrix/matrix.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr char kAxes[] = "env.A: [x, y, z], env.B: 1..3";

std::string FileWith(const std::string& exclude, const std::string& axes = kAxes) {
  return absl::StrCat(kCommandJob, "matrix: {", axes, ", exclude: ", exclude, "}\n");
}

Matrix MatrixOf(const std::string& file, const std::vector<std::string>& overrides = {}) {
  const auto array = Resolve(file, overrides);
  EXPECT_TRUE(array.ok()) << array.status();
  const auto matrix = Matrix::Of(array->spec);
  EXPECT_TRUE(matrix.ok()) << matrix.status();
  return *matrix;
}

// Returns the values of all elements in order, such as "x1".
std::vector<std::string> Elements(const Matrix& matrix) {
  std::vector<std::string> elements;
  for (int64_t i = 0; i < matrix.size(); ++i) {
    const auto settings = matrix.SettingsOf(i);
    elements.push_back(settings[0].second + settings[1].second);
  }
  return elements;
}

TEST(MatrixExcludeTest, TheOtherElementsAreNumberedWithoutGaps) {
  EXPECT_THAT(Elements(MatrixOf(FileWith("[{env.A: x, env.B: 1}, {env.A: y, env.B: 3}]"))),
              ElementsAre("x2", "x3", "y1", "y2", "z1", "z2", "z3"));
}

TEST(MatrixExcludeTest, AnEntryLeavesOutEveryValueOfKeysThatItDoesNotName) {
  EXPECT_THAT(Elements(MatrixOf(FileWith("[{env.A: y}, {env.B: 2}]"))),
              ElementsAre("x1", "x3", "z1", "z3"));
  EXPECT_EQ(MatrixOf(FileWith("[]")).size(), 9);
}

// The combination at the first value of the other key is left out, so another element is checked.
TEST(MatrixExcludeTest, ElementWithFindsAnElementThatIsNotLeftOut) {
  const Matrix matrix = MatrixOf(FileWith("[{env.A: y, env.B: 1}, {env.A: z}]"));
  const auto element = matrix.ElementWith(0, 1);
  ASSERT_TRUE(element.has_value());
  EXPECT_THAT(matrix.SettingsOf(*element), ElementsAre(Pair("env.A", "y"), Pair("env.B", "2")));
  EXPECT_EQ(matrix.ElementWith(1, 2), 2);
  EXPECT_FALSE(matrix.ElementWith(0, 2).has_value()) << "all elements with z are left out";
}

TEST(MatrixExcludeTest, ABadValueIsNotCheckedIfAllItsElementsAreLeftOut) {
  const std::string values = "optimizer.weight_decay: [0.1, 99], optimizer.lr: [1e-4, 3e-4]";
  const auto file = [&](const std::string& exclude) {
    return absl::StrCat(kModelJob, "matrix: {", values, exclude, "}\n");
  };
  EXPECT_THAT(Errors(file("")),
              ElementsAre(HasSubstr("`optimizer.weight_decay` must be at most 10")));
  EXPECT_THAT(Errors(file(", exclude: [{optimizer.weight_decay: 99}]")), IsEmpty());
  EXPECT_THAT(Errors(file(", exclude: [{optimizer.weight_decay: 99, optimizer.lr: 1e-4}]")),
              ElementsAre(HasSubstr("optimizer.lr=3e-4")));
}

TEST(MatrixExcludeTest, OptionsAndExtendedFilesReplaceIt) {
  const std::string file = FileWith("[{env.A: y}]");
  EXPECT_EQ(MatrixOf(file, {"matrix.exclude=[{env.A: x}, {env.A: y}]"}).size(), 3);
  EXPECT_EQ(MatrixOf(file, {"matrix.exclude=null"}).size(), 9);
}

TEST(MatrixExcludeTest, BadEntriesAreRefusedWithOneLine) {
  const std::string ranges = "env.A: 1..1000, env.B: 1..100";
  const struct {
    std::string exclude, message;
    std::string axes = kAxes;
  } cases[] = {
      {"{env.A: x}", "must be a list of combinations to leave out"},
      {"[env.A]", "must be a list of combinations to leave out"},
      {"[{}]", "must be a list of combinations to leave out"},
      {"[{env.A: [x, y]}]", "must be a list of combinations to leave out"},
      {"\"[{\"", "must be a list of combinations to leave out"},
      {"[{env.C: x}]", "names `env.C`, which is not a key of `matrix`"},
      {"[{env.A: w}]", "names the value w of `env.A`, which `matrix` does not list"},
      {"[{env.B: 4}]", "names the value 4 of `env.B`, which `matrix` does not list"},
      {"[{env.B: 1.0}]", "names the value 1.0 of `env.B`, which `matrix` does not list"},
      {"[{env.A: x}, {env.A: y}, {env.A: z}]", "leaves out every combination"},
      {"[{env.B: 7}]", "`matrix` has only `exclude`", "env.C: null"},
      {"[{env.B: 1}, {env.B: 2}, {env.B: 3}, {env.B: 4}, {env.B: 5}, {env.B: 6}, {env.B: 7}, "
       "{env.B: 8}, {env.B: 9}, {env.B: 10}, {env.B: 11}]",
       "leaves out more than 10000 combinations", ranges},
  };
  for (const auto& one : cases) {
    EXPECT_THAT(Errors(FileWith(one.exclude, one.axes)), ElementsAre(HasSubstr(one.message)))
        << one.exclude;
  }
}

// Every combination of a large matrix with left-out ones has exactly one index.
TEST(MatrixExcludeTest, EveryCombinationHasOneIndex) {
  const Matrix matrix = MatrixOf(
      FileWith("[{env.A: 7}, {env.B: 1}, {env.A: 500, env.B: 9}, {env.A: 1000, env.B: 10}]",
               "env.A: 1..1000, env.B: 1..10"));
  EXPECT_EQ(matrix.size(), 10'000 - 10 - 999 - 2);
  std::set<std::string> seen;
  for (int64_t i = 0; i < matrix.size(); ++i) {
    const auto settings = matrix.SettingsOf(i);
    EXPECT_TRUE(seen.insert(settings[0].second + " " + settings[1].second).second);
    EXPECT_NE(settings[0].second, "7");
    EXPECT_NE(settings[1].second, "1");
  }
  EXPECT_FALSE(seen.contains("500 9"));
  EXPECT_FALSE(seen.contains("1000 10"));
}

}  // namespace
}  // namespace trainyard
