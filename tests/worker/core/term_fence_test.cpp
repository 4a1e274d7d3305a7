#include "worker/core/term_fence.h"

#include <gtest/gtest.h>

namespace trainyard::worker {
namespace {

v1::ControllerMessage OfTerm(int64_t term) {
  v1::ControllerMessage message;
  SetLeaderTerm(term, message);
  return message;
}

TEST(TermFenceTest, TheFirstTermIsLeftOut) {
  EXPECT_EQ(OfTerm(1).ByteSizeLong(), 0u);
  TermFence fence;
  EXPECT_TRUE(fence.Admit(OfTerm(1)).ok());
  EXPECT_EQ(fence.highest(), 1);
  EXPECT_FALSE(fence.IsDue()) << "nothing to write for a controller on SQLite";
}

TEST(TermFenceTest, ALowerTermIsRefused) {
  TermFence fence;
  EXPECT_TRUE(fence.Admit(OfTerm(3)).ok());
  EXPECT_TRUE(fence.IsDue());
  fence.Kept();
  EXPECT_TRUE(fence.Admit(OfTerm(3)).ok());
  EXPECT_FALSE(fence.IsDue());
  EXPECT_TRUE(absl::IsAborted(fence.Admit(OfTerm(2))));
  EXPECT_TRUE(absl::IsAborted(fence.Admit(OfTerm(1))));
  EXPECT_EQ(fence.highest(), 3);
  EXPECT_TRUE(fence.Admit(OfTerm(4)).ok());
  EXPECT_TRUE(absl::IsAborted(fence.Admit(OfTerm(3)))) << "the leader of before";
}

TEST(TermFenceTest, TheTermOnDiskCountsAfterARestart) {
  TermFence fence(7);
  EXPECT_FALSE(fence.IsDue());
  EXPECT_TRUE(absl::IsAborted(fence.Admit(OfTerm(6))));
  EXPECT_TRUE(fence.Admit(OfTerm(7)).ok());
}

}  // namespace
}  // namespace trainyard::worker
