#include "controller/kernel/durable_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "controller/core/state/attempts/starting_point.h"
#include "controller/core/verdict/failure_policy.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kMinuteMs = 60'000;

class DurableRecordsTest : public testing::Test {
 protected:
  DurableRecordsTest() {
    cluster_.AddNode("a", 1);
    job_ = cluster_.Submit("job", 1, 1);
    cluster_.RunJob(job_);
  }

  ReceiveTelemetry RequestOf(v1::TelemetryRecord record) const {
    return {job_, 1, 0, std::move(record), "a"};
  }
  static v1::TelemetryRecord Checkpoint(int64_t step, bool deleted = false) {
    v1::TelemetryRecord record;
    record.mutable_checkpoint()->set_step(step);
    record.mutable_checkpoint()->set_path("/c/" + std::to_string(step));
    record.mutable_checkpoint()->set_deleted(deleted);
    return record;
  }
  static v1::TelemetryRecord Alert(int64_t step, const std::string& code) {
    v1::TelemetryRecord record;
    record.mutable_alert()->set_step(step);
    record.mutable_alert()->set_code(code);
    return record;
  }

  // Adds a record in a separate batch. Returns the number of the batch.
  uint64_t Add(v1::TelemetryRecord record) {
    const BatchId batch{1, {job_, 1, 0, v1::STREAM_KIND_TELEMETRY}, ++last_batch_};
    records_.Add(batch, RequestOf(std::move(record)), now_, changes_);
    return batch.number;
  }
  // Decides on the submitted requests, answers them, and returns the events.
  std::vector<v1::Event> Decide() {
    std::vector<v1::Event> events;
    for (const auto& [number, request] : std::exchange(changes_.submitted, {})) {
      for (v1::Event& event : cluster_.Do(request)) events.push_back(std::move(event));
      records_.Answered(number, changes_);
    }
    return events;
  }
  void Pass(int64_t ms) {
    now_ += ms;
    records_.SubmitWithinBudget(now_, changes_);
  }
  // Publishes as many checkpoints as the budget allows, at steps 1 to kJobEventsAtOnce.
  void UseUpBudget() {
    for (int64_t step = 1; step <= kJobEventsAtOnce; ++step) Add(Checkpoint(step));
    EXPECT_THAT(Decide(), SizeIs(kJobEventsAtOnce));
    changes_ = {};
  }
  std::vector<int64_t> SubmittedSteps() const {
    std::vector<int64_t> steps;
    for (const auto& [number, request] : changes_.submitted) {
      steps.push_back(request.record.checkpoint().step());
    }
    return steps;
  }
  std::vector<uint64_t> Done() const {
    std::vector<uint64_t> numbers;
    for (const BatchId& batch : changes_.done) numbers.push_back(batch.number);
    return numbers;
  }
  const v1::Job& Job() const { return cluster_.state.jobs.at(job_).job; }

  TestCluster cluster_;
  int64_t job_ = 0;
  Timestamp now_ = 1'000'000;
  Observations observations_;
  DurableRecords records_{cluster_.state, observations_};
  DurableRecords::Changes changes_;
  uint64_t last_batch_ = 0;
};

TEST_F(DurableRecordsTest, BatchWaitsUntilItsRecordIsDecided) {
  const uint64_t batch = Add(Checkpoint(5));
  EXPECT_THAT(SubmittedSteps(), ElementsAre(5));
  EXPECT_THAT(Done(), IsEmpty());
  Decide();
  EXPECT_THAT(Done(), ElementsAre(batch));
}

// For hours, the trainer saves a checkpoint every two seconds and removes the preceding checkpoint.
TEST_F(DurableRecordsTest, OftenSavingTrainerLosesNothing) {
  for (int64_t step = 1; step <= 5000; ++step) {
    Pass(2000);
    Add(Checkpoint(step));
    if (step > 1) Add(Checkpoint(step - 1, /*deleted=*/true));
    Decide();
    ASSERT_EQ(Job().checkpoints_size(), 1);
    ASSERT_EQ(Job().checkpoints(0).step(), step);
  }
  EXPECT_THAT(observations_.left_out, IsEmpty());
  EXPECT_THAT(records_.ReportsDue(now_), IsEmpty());
}

TEST_F(DurableRecordsTest, FloodKeepsToTheBudgetAndTheNewestIsRecorded) {
  int64_t step = 0;
  std::size_t events = 0;
  for (int second = 0; second < 120; ++second) {
    for (int i = 0; i < 1000; ++i) Add(Checkpoint(++step));
    events += Decide().size();
    Pass(1000);
    events += Decide().size();
    ASSERT_EQ(NextStartingPoint(Job()).step, step) << "a restart would train again what is saved";
  }
  EXPECT_LE(events, static_cast<std::size_t>(kJobEventsAtOnce + 2 * kJobEventsPerMinute + 1));
  EXPECT_GE(events, static_cast<std::size_t>(kJobEventsAtOnce + 2 * kJobEventsPerMinute - 1));
}

TEST_F(DurableRecordsTest, OnlyTheBatchOfTheNewestRecordWaits) {
  UseUpBudget();
  const uint64_t first = Add(Checkpoint(2001));
  EXPECT_THAT(Done(), IsEmpty());
  const uint64_t second = Add(Checkpoint(2002));
  EXPECT_THAT(Done(), ElementsAre(first));
  EXPECT_THAT(changes_.submitted, IsEmpty());
  Pass(1000);
  EXPECT_THAT(SubmittedSteps(), ElementsAre(2002));
  Decide();
  EXPECT_THAT(Done(), ElementsAre(first, second));
}

TEST_F(DurableRecordsTest, AnOlderCheckpointDoesNotReplaceTheHeldOne) {
  UseUpBudget();
  Add(Checkpoint(2002));
  const uint64_t older = Add(Checkpoint(2001));
  EXPECT_THAT(Done(), ElementsAre(older));
  Pass(1000);
  EXPECT_THAT(SubmittedSteps(), ElementsAre(2002));
}

TEST_F(DurableRecordsTest, DeletionsAreRecordedWithoutBudget) {
  UseUpBudget();
  for (int64_t step = 1; step < kJobEventsAtOnce; ++step) Add(Checkpoint(step, /*deleted=*/true));
  Decide();
  ASSERT_EQ(Job().checkpoints_size(), 1);
  EXPECT_EQ(Job().checkpoints(0).step(), kJobEventsAtOnce);
}

TEST_F(DurableRecordsTest, DeletionEndsTheWaitOfItsCheckpoint) {
  UseUpBudget();
  const uint64_t published = Add(Checkpoint(2001));
  const uint64_t deleted = Add(Checkpoint(2001, /*deleted=*/true));
  EXPECT_THAT(Done(), ElementsAre(published, deleted));
  Pass(kMinuteMs);
  EXPECT_THAT(changes_.submitted, IsEmpty());
}

// Repeatedly publishes and deletes a few checkpoints, as fast as possible, before the controller
// decides on any record.
TEST_F(DurableRecordsTest, DeletionsCannotFloodEither) {
  UseUpBudget();
  for (int i = 0; i < 10'000; ++i) {
    v1::TelemetryRecord deletion = Checkpoint(1 + i % 3, /*deleted=*/true);
    deletion.mutable_checkpoint()->set_path("/other/" + std::to_string(i));
    Add(deletion);
    Add(Checkpoint(1 + i % 3));
    Add(Checkpoint(5000 + i, /*deleted=*/true));
    v1::TelemetryRecord impossible = Checkpoint(1 + i % 3);
    impossible.mutable_checkpoint()->set_attempt(2 + i);
    Add(impossible);
  }
  EXPECT_THAT(changes_.submitted, SizeIs(3));
}

// All ranks of a gang may report a checkpoint, because all have written a part of it.
TEST_F(DurableRecordsTest, RepeatedRecordsUseNoBudget) {
  Add(Checkpoint(5));
  for (int rank = 0; rank < 5000; ++rank) Add(Checkpoint(5));
  EXPECT_THAT(SubmittedSteps(), ElementsAre(5));
  EXPECT_THAT(Done(), IsEmpty()) << "the event log does not have it yet";
  EXPECT_THAT(Decide(), SizeIs(1));
  EXPECT_THAT(Done(), SizeIs(5001));
  changes_ = {};
  for (int rank = 0; rank < 5000; ++rank) Add(Checkpoint(5));
  EXPECT_THAT(changes_.submitted, IsEmpty());
  EXPECT_THAT(observations_.left_out, IsEmpty());
}

TEST_F(DurableRecordsTest, HeldCheckpointGoesAheadOfAnExit) {
  UseUpBudget();
  Add(Checkpoint(2001));
  records_.SubmitHeld({job_, 2}, changes_);
  EXPECT_THAT(changes_.submitted, IsEmpty()) << "of another attempt";
  records_.SubmitHeld({job_, 1}, changes_);
  EXPECT_THAT(SubmittedSteps(), ElementsAre(2001));
}

TEST_F(DurableRecordsTest, AlertsBeyondTheBudgetAreLeftOut) {
  for (int64_t i = 0; i < kJobEventsAtOnce; ++i) Add(Alert(i, "slow_data"));
  EXPECT_THAT(Decide(), SizeIs(kJobEventsAtOnce));
  changes_ = {};
  const uint64_t batch = Add(Alert(5000, "slow_data"));
  EXPECT_THAT(Done(), ElementsAre(batch));
  EXPECT_THAT(changes_.submitted, IsEmpty());
  EXPECT_EQ(observations_.left_out.at(job_).alerts, 1);
  Add(Checkpoint(5));
  EXPECT_THAT(SubmittedSteps(), ElementsAre(5)) << "checkpoints have a budget of their own";
}

TEST_F(DurableRecordsTest, TheLossGuardGetsTheFirstOfTheLossesBeyondTheBudget) {
  for (int64_t i = 0; i < kJobEventsAtOnce; ++i) Add(Alert(i, "slow_data"));
  Decide();
  changes_ = {};
  Add(Alert(5000, "nan_loss"));
  Add(Alert(5001, "nan_loss"));
  EXPECT_THAT(changes_.submitted, IsEmpty());
  Pass(1000);
  ASSERT_THAT(changes_.submitted, SizeIs(1));
  EXPECT_EQ(changes_.submitted[0].second.record.alert().step(), 5000);
  EXPECT_EQ(observations_.left_out.at(job_).alerts, 1);
}

TEST_F(DurableRecordsTest, ReportsOnceAMinuteWhatWasLeftOut) {
  UseUpBudget();
  for (int64_t step = 2000; step < 2010; ++step) Add(Checkpoint(step));
  EXPECT_THAT(records_.ReportsDue(now_), IsEmpty());
  Pass(5000);
  const std::vector<ReportLeftOut> first = records_.ReportsDue(now_);
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].job_id, job_);
  EXPECT_EQ(first[0].checkpoints, 9);
  EXPECT_EQ(first[0].alerts, 0);
  int reports = 0;
  int64_t left_out = 0;
  for (int64_t second = 0, step = 3000; second < 600; ++second) {
    for (int i = 0; i < 100; ++i) Add(Checkpoint(++step));
    Pass(1000);
    Decide();
    for (const ReportLeftOut& report : records_.ReportsDue(now_)) {
      ++reports;
      left_out += report.checkpoints;
    }
  }
  EXPECT_EQ(reports, 10);
  EXPECT_GT(left_out, 50'000);
}

TEST_F(DurableRecordsTest, AJobThatIsQuietAgainHasItsWholeBudget) {
  UseUpBudget();
  Pass(kJobEventsAtOnce * kMinuteMs / kJobEventsPerMinute);
  for (int64_t step = 2001; step <= 2000 + kJobEventsAtOnce; ++step) Add(Checkpoint(step));
  EXPECT_THAT(changes_.submitted, SizeIs(kJobEventsAtOnce));
}

}  // namespace
}  // namespace trainyard::controller
