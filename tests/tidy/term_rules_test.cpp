// Tests the rule on invented files.
#include "tests/tidy/term_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TermRulesTest, RetiredWordsInUserTexts) {
  EXPECT_THAT(CheckTerms({{"controller/a.cpp", "\nf(\"the gang hung: no step\");"}}),
              ElementsAre("controller/a.cpp:2: says \"hung\"; say stalled, or blocked for a disk"));
  EXPECT_THAT(CheckTerms({{"web/src/a.tsx", "<p>\n  Colour by\n</p>"}}),
              ElementsAre("web/src/a.tsx:2: says \"Colour\"; say the American spelling"));
  for (const char* text :
       {"2 stragglers found", "10 steps are trained again", "abandoned branch of",
        "because the save failed", "every save waits", "the loss is nan", "was cancelled here",
        "GPU utilisation of", "is not initialised"}) {
    const std::string literal = std::string("f(\"") + text + "\");";
    EXPECT_EQ(CheckTerms({{"trainer/a.cpp", literal}}).size(), 1) << text;
  }
}

TEST(TermRulesTest, RetiredWordsInDocumentsAndDeployedFiles) {
  EXPECT_EQ(CheckTerms({{"a/README.md", "A rank hangs.\n\nA Straggler.\n"}}).size(), 2);
  EXPECT_EQ(CheckTerms({{"deploy/prometheus/rules/a.yml", "summary: 'job 7 hangs'\n"}}).size(), 1);
  EXPECT_EQ(CheckTerms({{"deploy/grafana/a.json", "\"title\": \"Hung ranks\"\n"}}).size(), 1);
  EXPECT_EQ(CheckTerms({{"proto/trainyard/v1/a.proto", "// A hung rank.\n"}}).size(), 1);
}

TEST(TermRulesTest, OtherTexts) {
  for (const auto& [path, text] : std::vector<std::pair<std::string, std::string>>{
           {"cli/a.cpp", "f(\"hung\");"},
           {"cli/a.cpp", "f(\"Save a checkpoint, then stop\");"},
           {"cli/a.cpp", "f(\"nan_loss at step 3, NaN\");"},
           {"cli/a.cpp", "f(\"a change, unhung, the saves_ table\");"},
           {"cli/a.cpp", "// A rank hangs.\n"},
           {"tests/cli/a.cpp", "f(\"the gang hung\");"},
           {"a.md", "A save of 18 GB. `health/hang_watch.h`\n"},
           {"CHANGELOG.md", "`hung` is `stalled` now.\n"}}) {
    EXPECT_THAT(CheckTerms({{path, text}}), IsEmpty()) << path << ": " << text;
  }
}

}  // namespace
}  // namespace trainyard::tidy
