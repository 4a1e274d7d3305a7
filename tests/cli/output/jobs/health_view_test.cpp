#include "cli/output/jobs/health_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(HealthViewTest, AJobWithoutHealthHasADash) {
  EXPECT_EQ(HealthText({}), "-");
  EXPECT_THAT(HealthLines({}, 0), IsEmpty());
}

TEST(HealthViewTest, EachFindingHasALineWithItsAgeAndNode) {
  v1::JobHealth health;
  health.set_word(v1::HEALTH_WORD_STALLED);
  v1::HealthFinding& stalled = *health.add_findings();
  stalled.set_word(v1::HEALTH_WORD_STALLED);
  stalled.set_since_ms(1'000'000);
  stalled.set_node("node-6");
  stalled.set_message("rank 3 has not joined all-reduce 7");
  v1::HealthFinding& unsaved = *health.add_findings();
  unsaved.set_word(v1::HEALTH_WORD_UNSAVED);
  unsaved.set_message("no checkpoint since step 80");
  EXPECT_EQ(HealthText(health), "stalled");
  EXPECT_THAT(HealthLines(health, 1'252'000),
              ElementsAre("stalled for 4m12s: rank 3 has not joined all-reduce 7 (node node-6)",
                          "unsaved: no checkpoint since step 80"));
}

TEST(HealthViewTest, AdviceHasTwoLinesWithoutControlCharacters) {
  v1::RunFinding finding;
  finding.set_what("the run is slow");
  finding.set_why("a program reported:\nx");
  finding.set_change("a larger batch");
  EXPECT_EQ(FindingText(finding),
            "  advice: the run is slow (a program reported: x)\n    try: a larger batch\n");
}

}  // namespace
}  // namespace trainyard::cli
