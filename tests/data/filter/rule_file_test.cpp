#include "data/filter/rule_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/filter/filter.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const std::string& yaml) {
  const auto filter = Filter::FromYaml(yaml, "rules.yaml");
  return filter.ok() ? "" : std::string(filter.status().message());
}

TEST(RuleFileTest, FilesHavePresetsAndRules) {
  const auto filter = Filter::FromYaml(
      "presets: [guide]\n"
      "rules:\n"
      "  - words: {min: 20}\n"
      "  - nfc\n"
      "  - short_lines: {max: 0.5, length: 10}\n"
      "  - c4_lines: {end_punctuation: false, min_words: 2, max_word_length: 100}\n",
      "rules.yaml");
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_THAT(filter->rule_names(),
              ElementsAre("words", "mean_word_length", "letters", "short_lines"));
  EXPECT_EQ(filter->ToYaml(),
            "rules:\n"
            "  - words: {min: 20}\n"
            "  - mean_word_length: {min: 3}\n"
            "  - letters: {min: 0.7}\n"
            "  - nfc\n"
            "  - short_lines: {max: 0.5, length: 10}\n"
            "  - c4_lines: {end_punctuation: false, min_words: 2, max_word_length: 100}\n");
}

TEST(RuleFileTest, EachPresetEqualsItsYaml) {
  for (const char* preset :
       {"guide", "gopher", "repetition", "c4", "fineweb", "slimpajama", "personal_data"}) {
    const std::string yaml = Filter::Load(preset)->ToYaml();
    const auto copy = Filter::FromYaml(yaml, "copy.yaml");
    ASSERT_TRUE(copy.ok()) << copy.status();
    EXPECT_EQ(copy->ToYaml(), yaml);
  }
}

TEST(RuleFileTest, PersonalDataHasReplacements) {
  const auto filter = Filter::FromYaml("rules:\n  - personal_data: {ipv4: '', email: a b}\n", "r");
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_EQ(filter->ToYaml(), "rules:\n  - personal_data: {email: \"a b\", ipv4: \"\"}\n");
  FilterWorkspace workspace;
  EXPECT_EQ(filter->Judge("me@a.org at 8.8.8.8, 2600::1", workspace).text, "a b at , 2600::1");
  EXPECT_EQ(Filter::FromYaml("rules:\n  - personal_data\n", "r")->ToYaml(),
            Filter::Load("personal_data")->ToYaml());
  EXPECT_EQ(ErrorOf("rules:\n  - personal_data: {}\n"),
            "rules.yaml:2: `personal_data` needs email, ipv4 or ipv6");
  EXPECT_EQ(ErrorOf("rules:\n  - personal_data: {mail: x}\n"),
            "rules.yaml:2: `personal_data` has no setting `mail`; use email, ipv4 or ipv6");
  const std::vector<std::string> values = {"[1]", "'\"'", "'\\'", "\"\\n\"", std::string(101, 'x')};
  for (const std::string& value : values) {
    EXPECT_THAT(ErrorOf("rules:\n  - personal_data: {email: " + value + "}\n"),
                HasSubstr("`personal_data`: email must be a text of at most 100 printable"));
  }
}

TEST(RuleFileTest, LoadReadsFiles) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("my.yaml");
  WriteFile(path, "rules:\n  - words: {max: 9}\n");
  EXPECT_THAT(Filter::Load(path)->rule_names(), ElementsAre("words"));
  EXPECT_THAT(std::string(Filter::Load(directory.File("none.yml")).status().message()),
              HasSubstr("cannot read the rule file"));
  WriteFile(path, std::string((1 << 20) + 1, '#'));
  EXPECT_THAT(std::string(Filter::Load(path).status().message()), HasSubstr("at most 1 MiB"));
}

TEST(RuleFileTest, UnknownNamesAreErrors) {
  EXPECT_THAT(std::string(Filter::Load("guide,gophers").status().message()),
              HasSubstr("unknown preset `gophers`; the presets are guide, gopher, repetition"));
  EXPECT_THAT(ErrorOf("presets:\n  - guide\n  - gophers\n"),
              HasSubstr("rules.yaml:3: unknown preset `gophers`"));
  EXPECT_THAT(
      ErrorOf("rules:\n  - words: {min: 1}\n  - wrods: {min: 1}\n"),
      HasSubstr("rules.yaml:3: unknown rule `wrods`; the rules are c4_lines, language, nfc, "
                "personal_data, char"));
  EXPECT_EQ(ErrorOf("rules:\n  - words: {min: 1}\nrule: []\n"),
            "rules.yaml:3: unknown key `rule`; use presets or rules");
  EXPECT_EQ(ErrorOf("rules:\n  - words:\n      mni: 1\n"),
            "rules.yaml:3: `words` has no setting `mni`; use min or max");
  EXPECT_EQ(ErrorOf("rules:\n  - c4_lines: {minwords: 1}\n"),
            "rules.yaml:2: `c4_lines` has no setting `minwords`; use end_punctuation, min_words or "
            "max_word_length");
  EXPECT_EQ(ErrorOf("rules:\n  - words: {length: 1}\n"),
            "rules.yaml:2: `words` has no setting `length`; use min or max");
}

TEST(RuleFileTest, ThresholdsHaveRanges) {
  EXPECT_EQ(ErrorOf("rules:\n\n  - letters: {min: 70}\n"),
            "rules.yaml:3: `letters`: min is 70; it must be between 0 and 1");
  EXPECT_EQ(ErrorOf("rules:\n  - letters: {max: -0.5}\n"),
            "rules.yaml:2: `letters`: max is -0.5; it must be between 0 and 1");
  EXPECT_EQ(ErrorOf("rules:\n  - words: {min: 9, max: 8}\n"),
            "rules.yaml:2: `words`: min 9 is larger than max 8");
  EXPECT_EQ(ErrorOf("rules:\n  - letters: {min: 1, max: 1}\n"), "");
  for (const char* value : {".nan", ".inf", "many", "[1]", "''", "0x"}) {
    EXPECT_EQ(ErrorOf(std::string("rules:\n  - words: {min: ") + value + "}\n"),
              "rules.yaml:2: `words`: min must be a number");
  }
  EXPECT_EQ(ErrorOf("rules:\n  - c4_lines: {min_words: 2.5}\n"),
            "rules.yaml:2: `c4_lines`: min_words must be a whole number");
  EXPECT_EQ(ErrorOf("rules:\n  - c4_lines: {end_punctuation: maybe}\n"),
            "rules.yaml:2: `c4_lines`: end_punctuation is `maybe`; use true or false");
}

TEST(RuleFileTest, IncompleteRulesAreErrors) {
  EXPECT_EQ(ErrorOf("rules:\n  - words: {}\n"), "rules.yaml:2: `words` needs min, max or both");
  EXPECT_EQ(ErrorOf("rules:\n  - words: 50\n"),
            "rules.yaml:2: `words` must have settings, such as {max: 0.5}");
  EXPECT_EQ(ErrorOf("rules:\n  - words: {min: 1, min: 2}\n"),
            "rules.yaml:2: `words` sets `min` twice");
  EXPECT_EQ(ErrorOf("rules:\n  - words\n"),
            "rules.yaml:2: an item of `rules` must be `nfc`, `personal_data` or `NAME: {min: "
            "NUMBER, max: NUMBER}`");
  EXPECT_EQ(ErrorOf("rules:\n  words: {min: 1}\n"), "rules.yaml:1: `rules` must be a list");
  EXPECT_EQ(ErrorOf("rules: []\nrules: []\n"), "rules.yaml:2: second `rules`");
  EXPECT_THAT(ErrorOf("rules: []\n"), HasSubstr("has no rules"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("must be a mapping"));
  EXPECT_THAT(ErrorOf("- words\n"), HasSubstr("must be a mapping"));
}

TEST(RuleFileTest, TextsThatAreNotYamlAreErrors) {
  EXPECT_THAT(ErrorOf("rules:\n  - words: {min: 1\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(ErrorOf("rules:\n\t- words"), HasSubstr("rules.yaml:2: not valid YAML"));
  EXPECT_THAT(ErrorOf("rules: \xFF\n"), HasSubstr("not UTF-8"));
  EXPECT_THAT(ErrorOf(std::string(100000, '[')), HasSubstr("not valid YAML"));
}

}  // namespace
}  // namespace trainyard::data
