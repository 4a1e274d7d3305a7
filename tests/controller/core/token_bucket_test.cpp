#include "controller/core/token_bucket.h"

#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

constexpr Timestamp kNow = 1'000'000;

// Tokens that can be taken now.
int Drain(TokenBucket& bucket, Timestamp now) {
  int taken = 0;
  while (bucket.Take(now)) ++taken;
  return taken;
}

TEST(TokenBucketTest, IsFullAtFirstAndRefillsAtItsRate) {
  TokenBucket bucket(5, 60);
  EXPECT_TRUE(bucket.IsFull(kNow));
  EXPECT_EQ(Drain(bucket, kNow), 5);
  EXPECT_FALSE(bucket.Take(kNow + 999));
  EXPECT_EQ(Drain(bucket, kNow + 1000), 1);
  EXPECT_EQ(Drain(bucket, kNow + 4000), 3);
}

TEST(TokenBucketTest, NeverHoldsMoreThanItsLimit) {
  TokenBucket bucket(5, 60);
  EXPECT_EQ(Drain(bucket, kNow), 5);
  EXPECT_FALSE(bucket.IsFull(kNow + 4999));
  EXPECT_TRUE(bucket.IsFull(kNow + 5000));
  EXPECT_EQ(Drain(bucket, kNow + 3'600'000), 5);
}

TEST(TokenBucketTest, AClockSetBackAddsNothingAndLosesNothing) {
  TokenBucket bucket(2, 60);
  EXPECT_EQ(Drain(bucket, kNow), 2);
  EXPECT_FALSE(bucket.Take(kNow - 500'000));
  EXPECT_FALSE(bucket.Take(kNow - 499'001));
  EXPECT_EQ(Drain(bucket, kNow - 499'000), 1);
}

}  // namespace
}  // namespace trainyard::controller
