#include "controller/core/support/token_bucket.h"

#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

constexpr Timestamp kBucketStart = 1'000'000;

// Takes all tokens available at `now` and returns their number.
int Drain(TokenBucket& bucket, Timestamp now) {
  int taken = 0;
  while (bucket.Take(now)) ++taken;
  return taken;
}

TEST(TokenBucketTest, IsFullAtFirstAndRefillsAtItsRate) {
  TokenBucket bucket(5, 60);
  EXPECT_TRUE(bucket.IsFull(kBucketStart));
  EXPECT_EQ(Drain(bucket, kBucketStart), 5);
  EXPECT_FALSE(bucket.Take(kBucketStart + 999));
  EXPECT_EQ(Drain(bucket, kBucketStart + 1000), 1);
  EXPECT_EQ(Drain(bucket, kBucketStart + 4000), 3);
}

TEST(TokenBucketTest, NeverHoldsMoreThanItsLimit) {
  TokenBucket bucket(5, 60);
  EXPECT_EQ(Drain(bucket, kBucketStart), 5);
  EXPECT_FALSE(bucket.IsFull(kBucketStart + 4999));
  EXPECT_TRUE(bucket.IsFull(kBucketStart + 5000));
  EXPECT_EQ(Drain(bucket, kBucketStart + 3'600'000), 5);
}

TEST(TokenBucketTest, AClockSetBackAddsNothingAndLosesNothing) {
  TokenBucket bucket(2, 60);
  EXPECT_EQ(Drain(bucket, kBucketStart), 2);
  EXPECT_FALSE(bucket.Take(kBucketStart - 500'000));
  EXPECT_FALSE(bucket.Take(kBucketStart - 499'001));
  EXPECT_EQ(Drain(bucket, kBucketStart - 499'000), 1);
}

}  // namespace
}  // namespace trainyard::controller
