#include "trainer/data/prefetcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <limits>

#include "tests/trainer/data/token_directory.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

class PrefetcherTest : public testing::Test {
 protected:
  PrefetcherTest() {
    directory_.WriteCounting(1001);
    file_ = std::make_unique<TokenFile>(directory_.path(), "train");
    SampleSourceOptions options;
    options.seq_length = 10;
    options.vocab_size = 65536;
    source_ = std::make_unique<SampleSource>(*file_, options);
  }

  TokenDirectory directory_;
  std::unique_ptr<TokenFile> file_;
  std::unique_ptr<SampleSource> source_;
};

TEST_F(PrefetcherTest, DeliversBatchesInOrderWithTheirTokens) {
  Prefetcher prefetcher(
      *source_,
      [](int64_t n) {
        return std::vector<int64_t>{2 * n, 2 * n + 1};
      },
      7, 3);
  for (int64_t number = 7; number < 40; ++number) {
    const TokenBatch batch = prefetcher.Next();
    ASSERT_EQ(batch.number, number);
    ASSERT_EQ(batch.samples, (std::vector<int64_t>{2 * number, 2 * number + 1}));
    ASSERT_EQ(batch.row_tokens, 11);
    std::vector<int64_t> row(11);
    for (size_t r = 0; r < 2; ++r) {
      source_->Fill(batch.samples[r], row.data());
      ASSERT_TRUE(std::equal(row.begin(), row.end(), batch.tokens.begin() + r * 11));
    }
  }
}

TEST_F(PrefetcherTest, PreparesNoMoreThanItsDepthAhead) {
  std::atomic<int> prepared = 0;
  std::promise<void> third;
  Prefetcher prefetcher(
      *source_,
      [&](int64_t n) {
        if (++prepared == 3) third.set_value();
        return std::vector<int64_t>{n};
      },
      0, 2);
  EXPECT_EQ(prefetcher.Next().number, 0);
  third.get_future().wait();  // After one batch is taken, a third is prepared.
  EXPECT_LE(prepared.load(), 3);
  EXPECT_EQ(prefetcher.Next().number, 1);
}

// The prefetcher starts a batch only when the test permits it. Therefore Next must wait for some
// batch, even on a fast machine.
TEST_F(PrefetcherTest, MeasuresTheTimeThatNextWaits) {
  std::atomic<int64_t> asked = -1;
  const auto ask = [&asked](int64_t n) {
    asked = n;
    asked.notify_all();
  };
  Prefetcher prefetcher(
      *source_,
      [&asked](int64_t n) {
        for (int64_t now = asked; now < n; now = asked) asked.wait(now);
        return std::vector<int64_t>{n};
      },
      0);
  EXPECT_EQ(prefetcher.stall_seconds(), 0);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(20);
  for (int64_t n = 0; prefetcher.stall_seconds() == 0 && Clock::now() < end; ++n) {
    ask(n);
    prefetcher.Next();
  }
  EXPECT_GT(prefetcher.stall_seconds(), 0);
  ask(std::numeric_limits<int64_t>::max());
}

TEST_F(PrefetcherTest, HandsOverGoodBatchesBeforeTheError) {
  Prefetcher prefetcher(
      *source_,
      [](int64_t n) -> std::vector<int64_t> {
        if (n == 2) throw TrainerError(ExitCode::kBadData, "broken");
        return {n};
      },
      0);
  EXPECT_EQ(prefetcher.Next().number, 0);
  EXPECT_EQ(prefetcher.Next().number, 1);
  EXPECT_THROW(prefetcher.Next(), TrainerError);
  EXPECT_THROW(prefetcher.Next(), TrainerError);
}

TEST_F(PrefetcherTest, StopsWithBatchesLeft) {
  const Prefetcher prefetcher(
      *source_, [](int64_t n) { return std::vector<int64_t>{n}; }, 0);
}

}  // namespace
}  // namespace trainyard::trainer
