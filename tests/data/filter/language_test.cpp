#include "data/filter/language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "data/filter/filter.h"
#include "proto/text/number_text.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char kEnglish[] =
    "The train left the station in the evening, and nobody on the platform noticed that the last "
    "wagon had stayed behind. It was found in the morning by a worker who wanted to close the "
    "gate.";
const char kGerman[] =
    "Der Zug hat den Bahnhof am Abend verlassen, und niemand auf dem Bahnsteig hat bemerkt, dass "
    "der letzte Wagen stehen geblieben ist. Ein Arbeiter fand ihn am Morgen vor dem Tor.";

bool LoadedKeeps(const std::string& rules, const std::string& text) {
  FilterWorkspace workspace;
  return Filter::Load(rules)->Judge(text, workspace).kept();
}

TEST(LanguageTest, TextsBelongToTheirLanguage) {
  EXPECT_GT(LanguageFraction(kEnglish, *LanguageNumber("en")), 0.9);
  EXPECT_EQ(LanguageFraction(kEnglish, *LanguageNumber("de")), 0);
  EXPECT_GT(LanguageFraction(kGerman, *LanguageNumber("de")), 0.9);
  EXPECT_EQ(LanguageFraction("", *LanguageNumber("en")), 0);
  EXPECT_EQ(LanguageFraction("12 + 34", *LanguageNumber("en")), 0);
}

TEST(LanguageTest, FractionIsThresholdOfTheRule) {
  const std::string mixed = std::string(kEnglish) + "\n\n" + kGerman;
  const double fraction = LanguageFraction(mixed, *LanguageNumber("en"));
  EXPECT_GT(fraction, 0.3);
  EXPECT_LT(fraction, 0.7);
  const auto rule = [](double min) { return absl::StrCat("language=en:", NumberText(min)); };
  EXPECT_TRUE(LoadedKeeps(rule(fraction), mixed));
  EXPECT_TRUE(LoadedKeeps(rule(std::nextafter(fraction, 0)), mixed));
  EXPECT_FALSE(LoadedKeeps(rule(std::nextafter(fraction, 1)), mixed));
}

TEST(LanguageTest, OnlyTheBeginningIsRead) {
  std::string text = std::string("x") + kEnglish;
  while (text.size() < kLanguageBytes) text += std::string("\n") + kEnglish;
  // The limit is within a character.
  text.resize(kLanguageBytes - 1);
  text += "\xC3\xA9";
  const double fraction = LanguageFraction(text, *LanguageNumber("en"));
  for (int i = 0; i < 2000; ++i) text += kGerman;
  EXPECT_EQ(LanguageFraction(text, *LanguageNumber("en")), fraction);
}

TEST(LanguageTest, CodesAreThoseOfIso639) {
  EXPECT_TRUE(LanguageNumber("zh-Hant").has_value());
  for (const char* code : {"", "xx", "un", "ENGLISH", "English", "EN"}) {
    EXPECT_FALSE(LanguageNumber(code).has_value()) << code;
  }
}

TEST(LanguageTest, RulesCombineWithPresets) {
  const auto filter = Filter::Load("language=en:0.65,guide,gopher");
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_EQ(filter->rule_names().front(), "language");
  EXPECT_EQ(filter->rule_names()[1], "words");
  const auto copy = Filter::FromYaml(filter->ToYaml(), "copy.yaml");
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->ToYaml(), filter->ToYaml());
  EXPECT_THAT(Filter::Load("guide,language=en:0.65,gopher")->rule_names(),
              ElementsAre("words", "mean_word_length", "letters", "language", "hash_signs_per_word",
                          "ellipses_per_word", "bullet_lines", "ellipsis_lines",
                          "words_with_letters", "stop_words"));
}

TEST(LanguageTest, WrongLanguagesAreErrors) {
  const auto load = [](const std::string& rules) {
    return std::string(Filter::Load(rules).status().message());
  };
  EXPECT_THAT(load("language=xx:0.5"), HasSubstr("unknown language `xx`"));
  for (const char* text : {"language=en", "language=en:", "language=en:1.5", "language=en:nan"}) {
    EXPECT_THAT(load(text), HasSubstr("must be language=CODE:FRACTION")) << text;
  }
  const auto parse = [](const std::string& settings) {
    const std::string yaml = "rules:\n  - language: " + settings + "\n";
    return std::string(Filter::FromYaml(yaml, "rules.yaml").status().message());
  };
  EXPECT_THAT(parse("{code: xx, min: 0.5}"), HasSubstr("rules.yaml:2: unknown language `xx`"));
  EXPECT_EQ(parse("{code: en}"), "rules.yaml:2: `language` needs code and min");
  EXPECT_EQ(parse("{min: 0.5}"), "rules.yaml:2: `language` needs code and min");
  EXPECT_EQ(parse("{code: en, min: 65}"),
            "rules.yaml:2: `language`: min is 65; it must be between 0 and 1");
  EXPECT_EQ(parse("{code: en, max: 1}"),
            "rules.yaml:2: `language` has no setting `max`; use code and min");
}

}  // namespace
}  // namespace trainyard::data
