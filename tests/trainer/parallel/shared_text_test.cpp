#include "trainer/parallel/shared_text.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/trainer/parallel/run_ranks.h"

namespace trainyard::trainer {
namespace {

std::string TextOf(const Communicator& group, int64_t first_writer) {
  return group.rank() < first_writer ? "" : "rank " + std::to_string(group.rank());
}

TEST(SharedTextTest, EveryMemberGetsTheTextOfTheFirstWriter) {
  for (const auto run : {&RunRanks, &RunRanksInMemory}) {
    run(3, [](Communicator& group) {
      EXPECT_EQ(SharedText(group, TextOf(group, 1), torch::kCPU), "rank 1");
      EXPECT_EQ(SharedText(group, TextOf(group, 2), torch::kCPU), "rank 2");
      EXPECT_EQ(SharedText(group, "", torch::kCPU), "");
    });
  }
}

TEST(SharedTextTest, LongTextsAreCut) {
  RunRanksInMemory(2, [](Communicator& group) {
    const std::string mine(group.rank() == 1 ? 2 * kSharedTextBytes : 0, 'x');
    EXPECT_EQ(SharedText(group, mine, torch::kCPU), std::string(kSharedTextBytes, 'x'));
  });
}

}  // namespace
}  // namespace trainyard::trainer
