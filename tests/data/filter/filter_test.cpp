#include "data/filter/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "data/filter/signal.h"
#include "proto/text/number_text.h"
#include "tests/data/filter/generated_documents.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

Filter FromRules(const std::string& rules) {
  const auto filter = Filter::FromYaml("rules:\n" + rules, "rules.yaml");
  EXPECT_TRUE(filter.ok()) << filter.status();
  return *filter;
}

bool Keeps(const std::string& rule, const std::string& text) {
  FilterWorkspace workspace;
  return FromRules("  - " + rule).Judge(text, workspace).kept();
}

// A text in which no signal is 0.
std::string RichText() {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    text +=
        "- The # of wagons... {lorem ipsum dolor sit amet consectetur adipiscing elit sed do.\n\n";
    text += "Never 3.14 again, unless it is " + std::to_string(i) + "...\n" + std::string(210, 'x');
    text += " of and to\nShort.\n\n";
  }
  return text;
}

TEST(FilterTest, EachThresholdKeepsItsOwnValue) {
  const std::string text = RichText();
  FilterWorkspace workspace;
  std::vector<double> values;
  Filter::MeasureAll(text, workspace, &values);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < kSignalCount; ++i) {
    const std::string name = InfoOf(static_cast<Signal>(i)).name;
    const double value = values[i];
    ASSERT_GT(value, 0) << name;
    const auto rule = [&name](const char* limit, double threshold) {
      return absl::StrCat(name, ": {", limit, ": ", NumberText(threshold), "}");
    };
    SCOPED_TRACE(rule("value", value));
    EXPECT_TRUE(Keeps(rule("min", value), text));
    EXPECT_TRUE(Keeps(rule("min", std::nextafter(value, 0)), text));
    EXPECT_TRUE(Keeps(rule("max", value), text));
    EXPECT_FALSE(Keeps(rule("max", std::nextafter(value, 0)), text));
    if (value == InfoOf(static_cast<Signal>(i)).largest_threshold) continue;
    EXPECT_FALSE(Keeps(rule("min", std::nextafter(value, kInfinity)), text));
    EXPECT_TRUE(Keeps(rule("max", std::nextafter(value, kInfinity)), text));
  }
}

TEST(FilterTest, FirstFailedRuleDrops) {
  const Filter filter = FromRules(
      "  - words: {min: 2}\n  - letters: {min: 0.9}\n"
      "  - characters: {max: 5}\n");
  EXPECT_THAT(filter.rule_names(), ElementsAre("words", "letters", "characters"));
  FilterWorkspace workspace;
  EXPECT_THAT(filter.Judge("123456789", workspace).dropped_by, Optional(0u));
  EXPECT_THAT(filter.Judge("12345 6789", workspace).dropped_by, Optional(1u));
  const Verdict verdict = filter.Judge("abcdefghijklmno pqrst", workspace);
  EXPECT_THAT(verdict.dropped_by, Optional(2u));
  EXPECT_EQ(verdict.value, 21);
  EXPECT_THAT(filter.Judge("abcdefghij k", workspace).dropped_by, Optional(2u));
  EXPECT_THAT(filter.Judge("ab", workspace).dropped_by, Optional(0u));
}

TEST(FilterTest, KeptTextsWithoutEditsAreTheInput) {
  const std::string text = "one two three";
  FilterWorkspace workspace;
  const Verdict verdict = FromRules("  - words: {min: 3}").Judge(text, workspace);
  EXPECT_TRUE(verdict.kept());
  EXPECT_EQ(verdict.text.data(), text.data());
  EXPECT_EQ(verdict.text.size(), text.size());
}

TEST(FilterTest, RulesAfterAnEditMeasureTheEditedText) {
  const Filter filter =
      FromRules("  - words: {min: 5}\n  - c4_lines: {min_words: 2}\n  - characters: {max: 9}\n");
  FilterWorkspace workspace;
  const Verdict verdict = filter.Judge("a menu of links\nIt is so.\n", workspace);
  EXPECT_TRUE(verdict.kept());
  EXPECT_EQ(verdict.text, "It is so.");
  EXPECT_THAT(filter.Judge("a menu of links\nIt is not.\n", workspace).dropped_by, Optional(1u));
}

TEST(FilterTest, EditsFollowEachOther) {
  const Filter filter = FromRules("  - c4_lines: {min_words: 1}\n  - nfc\n  - words: {max: 1}\n");
  FilterWorkspace workspace;
  EXPECT_EQ(filter.Judge("menu\n e\xCC\x81.\n", workspace).text, "\xC3\xA9.");
  EXPECT_EQ(filter.Judge("menu\n x.\n", workspace).text, "x.");
}

TEST(FilterTest, WorkspacesCarryNothingOver) {
  FilterWorkspace shared;
  const Filter filter = *Filter::Load("fineweb");
  for (uint64_t i = 0; i < 300; ++i) {
    const std::string text = DocumentGenerator(i).Next();
    FilterWorkspace fresh;
    std::vector<double> expected;
    std::vector<double> values;
    Filter::MeasureAll(text, fresh, &expected);
    Filter::MeasureAll(text, shared, &values);
    ASSERT_EQ(values, expected) << i;
    const Verdict verdict = filter.Judge(text, shared);
    ASSERT_EQ(verdict.dropped_by, filter.Judge(text, fresh).dropped_by) << i;
  }
}

TEST(FilterTest, LengthsOfLinesAreSettings) {
  const std::string text = "123456\n1234567\n";
  EXPECT_FALSE(Keeps("short_lines: {max: 0.4, length: 6}", text));
  EXPECT_TRUE(Keeps("short_lines: {max: 0.4, length: 5}", text));
  EXPECT_TRUE(Keeps("long_lines: {min: 1, length: 7}", text));
  EXPECT_FALSE(Keeps("long_lines: {min: 1, length: 8}", text));
}

TEST(FilterTest, EmptyTextsHaveNoRatios) {
  FilterWorkspace workspace;
  std::vector<double> values;
  Filter::MeasureAll("", workspace, &values);
  EXPECT_THAT(values, testing::Each(0));
}

}  // namespace
}  // namespace trainyard::data
