#include "trainer/model/pass/stash.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

TEST(StashTest, GivesBackTheNewestFirst) {
  Stash stash;
  stash.Push(torch::ones({2}));
  stash.Push(torch::zeros({3}));
  EXPECT_EQ(stash.bytes(), 5 * 4);
  EXPECT_EQ(stash.Pop().numel(), 3);
  EXPECT_EQ(stash.Pop().numel(), 2);
  EXPECT_TRUE(stash.empty());
  EXPECT_THROW(stash.Pop(), c10::Error);
}

TEST(StashTest, KeepsNothingWhenNoBackwardPassFollows) {
  Stash stash(Stash::Mode::kDiscard);
  stash.Push(torch::ones({2}));
  EXPECT_TRUE(stash.empty());
  EXPECT_FALSE(stash.keeps());
}

}  // namespace
}  // namespace trainyard::trainer
