#include "controller/core/explain/start_forecast.h"

#include <string>
#include <utility>

#include "controller/core/explain/usual_run_times.h"
#include "controller/core/schedule/preemption.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;

constexpr int64_t kForecastSecond = 1000;

class StartForecastTest : public ::testing::Test {
 protected:
  StartForecastTest() { cluster_.AddNode("a", 4); }

  int64_t Submit(const std::string& name, int slots, int64_t limit_s, int priority = 0) {
    v1::JobSpec spec = TestSpec(name, 1, slots);
    spec.set_priority(priority);
    // Ranks that stop at a limit end at once, so that the times below are simple.
    spec.mutable_stop_grace()->set_seconds(0);
    if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
    return cluster_.Submit(spec);
  }

  ForecastedStarts Forecast(const ForecastLimits& limits = {}) const {
    auto input = CopyForForecast(cluster_.View());
    EXPECT_TRUE(input.has_value());
    return ForecastStarts(*std::move(input), limits);
  }

  Timestamp In(int64_t seconds) const { return cluster_.now + kForecastSecond * seconds; }
  ForecastedStart At(int64_t seconds, EndBasis basis = EndBasis::kLimit) const {
    return {In(seconds), basis};
  }

  TestCluster cluster_;
};

TEST_F(StartForecastTest, JobsStartOneAfterAnother) {
  cluster_.RunJob(Submit("runs", 4, 100));
  const int64_t second = Submit("second", 4, 50), third = Submit("third", 4, 10);
  EXPECT_THAT(Forecast(), ElementsAre(Pair(second, At(100)), Pair(third, At(150))));
}

TEST_F(StartForecastTest, AJobThatDelaysNoHeadStartsFirst) {
  cluster_.RunJob(Submit("runs", 2, 100));
  cluster_.RunJob(Submit("ends-first", 2, 50));
  const int64_t head = Submit("head", 4, 1000), small = Submit("small", 2, 40);
  EXPECT_THAT(Forecast(), ElementsAre(Pair(head, At(100)), Pair(small, At(50))));
}

TEST_F(StartForecastTest, TheStateIsNotChanged) {
  cluster_.RunJob(Submit("runs", 4, 100));
  Submit("second", 4, 50);
  const std::string before = Bytes(cluster_.state);
  Forecast();
  EXPECT_EQ(Bytes(cluster_.state), before);
}

TEST_F(StartForecastTest, AHeadThatMayPreemptStartsWhenItHasWaitedLongEnough) {
  const int64_t runs = Submit("runs", 4, 100'000);
  cluster_.RunJob(runs);
  const int64_t head = Submit("head", 4, 1000, /*priority=*/5);
  cluster_.Settle();
  const int64_t wait_s = cluster_.options.preemption.wait_ms / kForecastSecond;
  EXPECT_THAT(Forecast(), ElementsAre(Pair(head, At(wait_s, EndBasis::kPredicted))));
}

// The preempted job returns to the queue and uses the slots that the others leave.
TEST_F(StartForecastTest, APreemptedJobDelaysLaterOnes) {
  const int64_t runs = Submit("runs", 4, 100'000);
  cluster_.RunJob(runs);
  const int64_t head = Submit("head", 4, 1000, /*priority=*/5);
  const int64_t last = Submit("last", 4, 1000);
  const int64_t wait_s = cluster_.options.preemption.wait_ms / kForecastSecond;
  const int64_t restart_s = RestartCostMs(cluster_.state.jobs.at(runs).job) / kForecastSecond;
  EXPECT_THAT(Forecast(), ElementsAre(Pair(head, At(wait_s, EndBasis::kPredicted)),
                                      Pair(last, At(1000 + 100'000 + restart_s))));
}

TEST_F(StartForecastTest, AJobStartsWhenItsConditionIsMet) {
  cluster_.RunJob(Submit("runs", 2, 100));
  v1::JobSpec spec = TestSpec("after", 1, 2);
  spec.add_after("runs");
  const int64_t after = cluster_.Submit(spec);
  EXPECT_THAT(Forecast(), ElementsAre(Pair(after, At(100))));
}

TEST_F(StartForecastTest, WithoutALimitTheEndIsUnknown) {
  cluster_.RunJob(Submit("runs", 4, 0));
  Submit("second", 4, 50);
  EXPECT_THAT(Forecast(), IsEmpty());
}

TEST_F(StartForecastTest, AKnownRunTimeReplacesTheLimit) {
  const int64_t runs = Submit("runs", 4, 100);
  cluster_.RunJob(runs);
  const int64_t second = Submit("second", 4, 50), third = Submit("third", 4, 10);
  auto input = CopyForForecast(cluster_.View());
  input->runs[runs] = {40 * kForecastSecond, EndBasis::kPredicted};
  input->runs[second] = {20 * kForecastSecond, EndBasis::kUsual};
  EXPECT_THAT(ForecastStarts(*std::move(input)),
              ElementsAre(Pair(second, At(40, EndBasis::kPredicted)),
                          Pair(third, At(60, EndBasis::kUsual))));
}

// All ended jobs have run for 10 s. The job that runs has done so for 5 s.
TEST_F(StartForecastTest, EndedJobsShowForHowLongJobsUsuallyRun) {
  for (std::size_t i = 0; i < UsualRunTimes::kLeastJobs; ++i) {
    const int64_t ended = Submit("ended-" + std::to_string(i), 4, 100);
    cluster_.RunJob(ended);
    cluster_.Pass(10 * kForecastSecond);
    cluster_.ExitAll(ended, 0);
    cluster_.ClearAll(ended);
    cluster_.Settle();
  }
  cluster_.RunJob(Submit("runs", 4, 100));
  cluster_.Pass(5 * kForecastSecond);
  const int64_t second = Submit("second", 4, 100), third = Submit("third", 4, 100);
  EXPECT_THAT(Forecast(), ElementsAre(Pair(second, At(5, EndBasis::kUsual)),
                                      Pair(third, At(15, EndBasis::kUsual))));
}

TEST_F(StartForecastTest, TheForecastEndsAtItsLimits) {
  cluster_.RunJob(Submit("runs", 4, 100));
  const int64_t second = Submit("second", 4, 50);
  Submit("third", 4, 10);
  // One pass finds no free slots, a second one starts the first waiting job.
  EXPECT_THAT(Forecast({.passes = 2}), ElementsAre(Key(second)));
  EXPECT_THAT(Forecast({.passes = 1}), IsEmpty());
  EXPECT_THAT(Forecast({.is_over = [] { return true; }}), IsEmpty());
}

TEST_F(StartForecastTest, JobsThatStopOrPauseFreeTheirSlots) {
  const int64_t stops = Submit("stops", 2, 10'000), pauses = Submit("pauses", 2, 10'000);
  cluster_.RunJob(stops);
  cluster_.RunJob(pauses);
  cluster_.Stop(stops);
  PauseJob pause{.request = {}, .principal = {"ada"}};
  pause.request.set_job(std::to_string(pauses));
  cluster_.Do(pause);
  const int64_t waits = Submit("waits", 4, 10);
  const ForecastedStarts starts = Forecast();
  ASSERT_TRUE(starts.contains(waits));
  EXPECT_LE(starts.at(waits).time, In(60));
}

TEST_F(StartForecastTest, AnAutomaticLayoutIsAssumedToExist) {
  cluster_.AddNode("b", 4);
  cluster_.RunJob(Submit("runs", 4, 100));
  const int64_t trains = cluster_.Submit(AutoSpec("trains", 2, 4));
  EXPECT_THAT(Forecast(), ElementsAre(Pair(trains, At(100))));
}

// Elements that have no job yet take slots, but have no number to return.
TEST_F(StartForecastTest, ElementsOfArraysTakeSlots) {
  cluster_.RunJob(Submit("runs", 4, 100));
  v1::JobSpec spec = TestSpec("sweep", 1, 4);
  spec.mutable_stop_grace()->set_seconds(0);
  spec.mutable_time_limit()->set_seconds(30);
  (*spec.mutable_matrix())["env.SEED"] = "1..3";
  const int64_t array = cluster_.Submit(spec);
  cluster_.Settle();
  const int64_t last = Submit("last", 4, 10);
  const ForecastedStarts starts = Forecast();
  EXPECT_THAT(starts, ElementsAre(Pair(array + 1, At(100)), Pair(last, At(190))));
}

TEST_F(StartForecastTest, ALargeStateIsNotCopied) {
  const Schedule none;
  const ClusterView view{.state = cluster_.state,
                         .observations = cluster_.observations,
                         .options = cluster_.options,
                         .schedule = none,
                         .now = cluster_.now};
  const std::size_t jobs = kForecastEntries - cluster_.state.nodes.size();
  for (std::size_t i = 1; i <= jobs; ++i) {
    cluster_.state.jobs[static_cast<int64_t>(i)].job.set_state(v1::JOB_STATE_HELD);
  }
  EXPECT_TRUE(CopyForForecast(view).has_value());
  cluster_.state.jobs[static_cast<int64_t>(jobs) + 1].job.set_state(v1::JOB_STATE_HELD);
  EXPECT_FALSE(CopyForForecast(view).has_value());
}

}  // namespace
}  // namespace trainyard::controller
