#include "worker/core/seen_attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/core/action_text.h"
#include "worker/core/attempts.h"

namespace trainyard::worker {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(SeenAttemptsTest, NumbersOnlyGrow) {
  SeenAttempts seen;
  EXPECT_EQ(seen.Of(1), 0);
  EXPECT_TRUE(seen.Raise(1, 3));
  EXPECT_FALSE(seen.Raise(1, 3));
  EXPECT_FALSE(seen.Raise(1, 2));
  EXPECT_EQ(seen.Of(1), 3);
}

TEST(SeenAttemptsTest, ForgetsTheJobThatWasRaisedLongestAgo) {
  SeenAttempts seen(2);
  seen.Raise(1, 1);
  seen.Raise(2, 1);
  seen.Raise(1, 2);
  seen.Raise(3, 1);
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen.Of(2), 0);
  EXPECT_THAT(seen.OldestFirst(), ElementsAre(AttemptKey{1, 2}, AttemptKey{3, 1}));
}

TEST(SeenAttemptsTest, AnAttemptOnTheNodeIsKnownAlsoWhenItsNumberIsForgotten) {
  Attempts attempts;
  attempts.Restore(SeenAttempts(1), {StartOf(1, 6, 1)}, {});
  attempts.Start(StartOf(2, 1, 1), 0);
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 5, 1), 0)), Contains("cleared 1/5"));
  EXPECT_THAT(Text(attempts.Start(StartOf(3, 1, 1), 0)), Contains("spawn 3/1/0"));
}

}  // namespace
}  // namespace trainyard::worker
