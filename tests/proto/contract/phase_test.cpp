#include "proto/contract/phase.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(PhaseTest, NamesLeadBackToTheirPhase) {
  for (const Phase phase : kPhases) EXPECT_EQ(PhaseOf(PhaseName(phase)), phase);
  EXPECT_EQ(PhaseName(Phase::kEval), "eval");
  EXPECT_EQ(PhaseOf("evaluation"), std::nullopt);
  EXPECT_EQ(PhaseOf(""), std::nullopt);
}

}  // namespace
}  // namespace trainyard
