// Tests the records of experts of metric_store.h on every implementation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/store/metrics/expert_history.h"
#include "tests/controller/store/contract/store_contract.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;

class ExpertRecordsTest : public StoreContract<MetricStore> {
 protected:
  void Add(int64_t attempt, const std::vector<int64_t>& steps) {
    const StreamKey stream{1, attempt, 0, v1::STREAM_KIND_TELEMETRY};
    const int64_t begin = *store_->StoredOffset(stream);
    MetricBatch batch{stream, begin, begin + 100, {}};
    for (const int64_t step : steps) {
      StoredExperts& experts = batch.experts.emplace_back();
      experts.attempt = attempt;
      experts.time_ms = 10 * step;
      experts.record.set_step(step);
      experts.record.set_load(std::string("\x80\x00\xff", 3));
      experts.record.add_balance(1.5F);
    }
    const absl::Status status = store_->Append({batch});
    ASSERT_TRUE(status.ok()) << status;
  }

  std::vector<int64_t> Steps() {
    const absl::StatusOr<std::vector<StoredExperts>> read = store_->ReadExperts(1);
    EXPECT_TRUE(read.ok()) << read.status();
    std::vector<int64_t> steps;
    for (const StoredExperts& experts : read.value_or(std::vector<StoredExperts>())) {
      steps.push_back(experts.record.step());
    }
    return steps;
  }
};

TEST_P(ExpertRecordsTest, RecordsAreReadAsWritten) {
  Add(1, {10, 20, 30});
  Reopen();
  EXPECT_THAT(Steps(), ElementsAre(10, 20, 30));
  const StoredExperts found = store_->ReadExperts(1)->at(1);
  EXPECT_EQ(found.attempt, 1);
  EXPECT_EQ(found.time_ms, 200);
  EXPECT_EQ(found.record.load(), std::string("\x80\x00\xff", 3));
  EXPECT_TRUE(store_->ReadExperts(2)->empty());
  EXPECT_TRUE(store_->Keys(1)->empty()) << "records are no series";
}

TEST_P(ExpertRecordsTest, ANewerAttemptReplacesLaterSteps) {
  Add(1, {10, 20, 30});
  Add(2, {20});
  EXPECT_THAT(Steps(), ElementsAre(10, 20));
  EXPECT_EQ(store_->ReadExperts(1)->back().attempt, 2);
  Add(1, {40});
  EXPECT_THAT(Steps(), ElementsAre(10, 20)) << "a late record of the older attempt";
  Add(2, {40});
  EXPECT_THAT(Steps(), ElementsAre(10, 20, 40));
}

TEST_P(ExpertRecordsTest, ALongRunKeepsALimitedNumber) {
  for (int64_t step = 10; step <= 10'000; step += 10) Add(1, {step});
  const std::vector<int64_t> steps = Steps();
  ASSERT_EQ(steps.size(), kKeptExpertRecords);
  EXPECT_EQ(steps.front(), 10);
  for (std::size_t i = 1; i <= kNewestExpertRecords; ++i) {
    EXPECT_EQ(steps[steps.size() - i], 10'010 - 10 * static_cast<int64_t>(i));
  }
  for (std::size_t i = 1; i < steps.size(); ++i) EXPECT_LE(steps[i] - steps[i - 1], 170);
}

TEST_P(ExpertRecordsTest, ADroppedJobHasNone) {
  Add(1, {10});
  EXPECT_GT(*store_->JobBytes(1), 0);
  ASSERT_TRUE(store_->DropJob(1).ok());
  EXPECT_TRUE(Steps().empty());
}

INSTANTIATE_TEST_SUITE_P(, ExpertRecordsTest, EveryStore(), StoreName);

TEST(ExpertHistoryTest, TheSmallestGapIsClosed) {
  std::vector<int64_t> steps;
  for (std::size_t i = 0; i < kKeptExpertRecords; ++i) {
    steps.push_back(100 * static_cast<int64_t>(i));
  }
  EXPECT_EQ(ExpertStepToRemove(steps), std::nullopt);
  steps.insert(steps.begin() + 41, 4'050);
  EXPECT_EQ(ExpertStepToRemove(steps), 4'050);
}

}  // namespace
}  // namespace trainyard::controller
