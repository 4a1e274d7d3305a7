#include "trainer/parallel/interruption/presence.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

torch::Tensor Target() { return torch::full({}, -1.0, torch::kFloat64); }

TEST(PresenceTest, WritesTheValueWhileTheRankIsInTheGang) {
  Interruption interruption;
  const Presence presence(torch::kCPU, &interruption);
  const torch::Tensor target = Target();
  presence.Write(7, target);
  EXPECT_EQ(target.item<double>(), 7);
}

TEST(PresenceTest, WritesZeroBeforeTheFirstGroupEnds) {
  Interruption interruption;
  const torch::Tensor target = Target();
  std::unique_ptr<Presence> presence;
  const auto group = interruption.Listen([&] { presence->Write(7, target); });
  presence = std::make_unique<Presence>(torch::kCPU, &interruption);
  interruption.Interrupt();
  EXPECT_EQ(target.item<double>(), 0);
}

TEST(PresenceTest, WithoutAnInterruptionTheRankNeverLeaves) {
  const torch::Tensor target = Target();
  Presence(torch::kCPU, nullptr).Write(3, target);
  EXPECT_EQ(target.item<double>(), 3);
}

}  // namespace
}  // namespace trainyard::trainer
