#include "data/input/block_pipeline.h"

#include <gtest/gtest.h>

#include <atomic>

namespace trainyard::data {
namespace {

using Pipeline = BlockPipeline<int, int>;

// Returns a function that produces the numbers 1 to `count`.
Pipeline::Next Counter(int count) {
  return [count, n = 0](int* input) mutable -> absl::StatusOr<bool> {
    *input = ++n;
    return n <= count;
  };
}

TEST(BlockPipelineTest, ResultsComeInOrder) {
  for (const int threads : {1, 2, 7}) {
    int expected = 0;
    const absl::Status status = Pipeline(threads).Run(
        Counter(500),
        [](int, int n) -> absl::StatusOr<int> {
          if (n % 3 == 0) std::this_thread::yield();
          return n * 10;
        },
        [&](int result) {
          EXPECT_EQ(result, ++expected * 10);
          return absl::OkStatus();
        });
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(expected, 500);
  }
}

TEST(BlockPipelineTest, HoldsOnlyAFewBlocksAtOnce) {
  std::atomic<int> inside = 0;
  int largest = 0;
  const Pipeline::Next counter = Counter(300);
  const absl::Status status = Pipeline(3).Run(
      [&](int* input) {
        largest = std::max(largest, ++inside);
        return counter(input);
      },
      [](int, int n) -> absl::StatusOr<int> { return n; },
      [&](int) {
        --inside;
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok());
  EXPECT_LE(largest, 13);
}

TEST(BlockPipelineTest, ReturnsTheFirstErrorInOrder) {
  int taken = 0;
  const absl::Status status = Pipeline(4).Run(
      Counter(1000),
      [](int, int n) -> absl::StatusOr<int> {
        if (n >= 20) return absl::DataLossError(std::to_string(n));
        return n;
      },
      [&](int) {
        ++taken;
        return absl::OkStatus();
      });
  EXPECT_EQ(status.message(), "20");
  EXPECT_EQ(taken, 19);
}

TEST(BlockPipelineTest, ThreadsHaveIndices) {
  std::array<std::atomic<int>, 3> calls{};
  const absl::Status status = Pipeline(3).Run(
      Counter(300),
      [&](int thread, int n) -> absl::StatusOr<int> {
        ++calls.at(static_cast<size_t>(thread));
        return n;
      },
      [](int) { return absl::OkStatus(); });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(calls[0] + calls[1] + calls[2], 300);
}

TEST(BlockPipelineTest, BlocksBeforeAFailedReadComeFirst) {
  for (const int threads : {1, 7}) {
    int taken = 0;
    const absl::Status status = Pipeline(threads).Run(
        [n = 0](int* input) mutable -> absl::StatusOr<bool> {
          *input = ++n;
          if (n > 20) return absl::DataLossError("read");
          return true;
        },
        [](int, int n) -> absl::StatusOr<int> { return n; },
        [&](int result) {
          taken = result;
          return absl::OkStatus();
        });
    EXPECT_EQ(status.message(), "read");
    EXPECT_EQ(taken, 20);
  }
}

TEST(BlockPipelineTest, StopsWhenReadingOrTakingFails) {
  const auto work = [](int, int n) -> absl::StatusOr<int> { return n; };
  EXPECT_EQ(Pipeline(2)
                .Run([](int*) -> absl::StatusOr<bool> { return absl::NotFoundError("read"); }, work,
                     [](int) { return absl::OkStatus(); })
                .message(),
            "read");
  EXPECT_EQ(Pipeline(2)
                .Run(Counter(100), work, [](int) { return absl::ResourceExhaustedError("full"); })
                .message(),
            "full");
}

}  // namespace
}  // namespace trainyard::data
