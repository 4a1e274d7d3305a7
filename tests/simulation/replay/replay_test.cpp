#include "tests/simulation/replay/replay.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>

#include "tests/simulation/replay/core_policy.h"
#include "tests/simulation/replay/estimates.h"
#include "tests/simulation/replay/figures.h"
#include "tests/simulation/replay/reference_policies.h"

namespace trainyard::replay {
namespace {

constexpr int64_t kTwoWeeks = int64_t{14} * 24 * 3600;

TraceJob Job(int64_t submit, int64_t duration, int gpus, int64_t limit = 0) {
  return {.submit = submit, .duration = duration, .limit = limit, .gpus = gpus};
}

// The start of each job, by its first run.
std::vector<int64_t> StartsOf(const std::vector<TraceJob>& jobs, Policy& policy) {
  std::vector<int64_t> starts(jobs.size(), INT64_MAX);
  for (const JobRun& run : RunReplay(jobs, NodePool(2, 8), policy)) {
    starts[run.job] = std::min(starts[run.job], run.start);
  }
  return starts;
}

std::string TracePath(const std::string& name) { return std::string(TRACES) + "/" + name; }

std::vector<TraceJob> Philly() {
  return ReadTrace(TracePath("philly-2017-10.csv"), {kTwoWeeks, 2 * kTwoWeeks, ""});
}

std::vector<TraceJob> Helios() {
  return ReadTrace(TracePath("helios-venus-2020-09.csv"), {.queue = "vcvGl"});
}

TEST(NodePoolTest, SmallJobsFillTheFullestNode) {
  NodePool pool(3, 8);
  pool.Take({{1, 5}});
  const auto found = pool.Find(3);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->size(), 1U);
  EXPECT_EQ((*found)[0].node, 1);
  EXPECT_EQ(pool.Find(4)->front().node, 0);
}

TEST(NodePoolTest, LargeJobsGetWholeNodesAndARest) {
  NodePool pool(3, 8);
  pool.Take({{0, 6}});
  const auto found = pool.Find(18);
  ASSERT_TRUE(found.has_value());
  int gpus = 0;
  for (const NodeShare& share : *found) gpus += share.gpus;
  EXPECT_EQ(gpus, 18);
  EXPECT_FALSE(pool.Fits(19));  // 3 GPUs do not fit on node 0.
  pool.Take(*found);
  EXPECT_FALSE(pool.Fits(1));
  pool.Return(*found);
  EXPECT_TRUE(pool.Fits(18));
}

TEST(ReplayTest, FirstComeFirstServedLetsNoJobPass) {
  FirstComeFirstServed policy;
  EXPECT_EQ(StartsOf({Job(0, 100, 8), Job(1, 100, 16), Job(2, 10, 1)}, policy),
            (std::vector<int64_t>{0, 100, 200}));
}

// The second job waits until 100. The third ends before. The fourth would delay the second. The
// fifth needs GPUs that the second job leaves free.
TEST(ReplayTest, BackfillNeverDelaysTheHead) {
  EasyBackfill policy;
  EXPECT_EQ(StartsOf({Job(0, 100, 8, 100), Job(1, 50, 14, 50), Job(2, 90, 1, 90),
                      Job(3, 300, 4, 300), Job(4, 300, 2, 300)},
                     policy),
            (std::vector<int64_t>{0, 100, 2, 150, 4}));
}

TEST(ReplayTest, AJobWithoutALimitMayNotPassTheHead) {
  EasyBackfill policy;
  EXPECT_EQ(StartsOf({Job(0, 100, 8, 100), Job(1, 50, 16, 50), Job(2, 10, 1)}, policy),
            (std::vector<int64_t>{0, 100, 150}));
}

class PreemptOnce final : public Policy {
 public:
  void Pass(ReplayState& state) override {
    if (state.now() == 30) state.Preempt(0);
    while (!state.pending().empty() && state.now() != 30) {
      const int next = *state.pending().begin();
      state.Start(next, *state.pool().Find(state.job(next).gpus));
    }
  }
};

TEST(ReplayTest, APreemptedJobPaysForItsRestart) {
  PreemptOnce policy;
  const std::vector<TraceJob> jobs = {Job(0, 100, 8), Job(30, 5, 1), Job(40, 5, 1)};
  const std::vector<JobRun> runs = RunReplay(jobs, NodePool(2, 8), policy);
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs.back().start, 40);
  EXPECT_EQ(runs.back().end, 40 + 70 + kRestartCost);
  const ReplayFigures figures = FiguresOf(jobs, runs, 16, 1000);
  EXPECT_EQ(figures.preemptions, 1);
  EXPECT_EQ(figures.most_in_a_day, 1);
  EXPECT_NEAR(figures.restart_share, 8.0 * kRestartCost / (8 * 100 + 10), 1e-12);
}

TEST(ReplayTest, JobsThatFitOnNoClusterAreRefused) {
  FirstComeFirstServed policy;
  EXPECT_THROW(StartsOf({Job(0, 1, 17)}, policy), std::runtime_error);
}

TEST(FiguresTest, AreThoseOfASmallExample) {
  std::vector<TraceJob> jobs = {Job(0, 100, 8), Job(0, 50, 1), Job(0, 50, 16)};
  jobs[0].queue = jobs[1].queue = "a";
  jobs[2].queue = "b";
  const ReplayFigures figures = FiguresOf(jobs, {{1, 0, 50}, {0, 10, 110}, {2, 110, 160}}, 16, 120);
  EXPECT_DOUBLE_EQ(figures.all.mean, 40);
  EXPECT_DOUBLE_EQ(figures.all.longest, 110);
  EXPECT_EQ(figures.eight_or_more.jobs, 2);
  EXPECT_DOUBLE_EQ(figures.eight_or_more.mean, 60);
  EXPECT_DOUBLE_EQ(figures.by_size[0].mean, 0);
  EXPECT_DOUBLE_EQ(figures.mean_residence, (110 + 50 + 160) / 3.0);
  EXPECT_DOUBLE_EQ(figures.utilization, (50.0 + 8 * 100 + 16 * 10) / (16 * 120));
  const double a = 850.0 / 930, b = 50.0 / 160;
  EXPECT_DOUBLE_EQ(figures.jain, (a + b) * (a + b) / (2 * (a * a + b * b)));
}

TEST(TraceTest, LimitsAreUsualOnesAndAtLeastTheDuration) {
  std::vector<TraceJob> jobs = Philly(), again = jobs;
  EXPECT_EQ(jobs.size(), 21'933U);
  SetUserLimits(1, jobs);
  SetUserLimits(1, again);
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_GE(jobs[i].limit, jobs[i].duration);
    EXPECT_LE(static_cast<double>(jobs[i].limit), 86'400.0 * 60);
    EXPECT_EQ(jobs[i].limit % 600, 0);
    EXPECT_EQ(jobs[i].limit, again[i].limit);
  }
}

TEST(TraceTest, ABadRowIsSaidWithItsLine) {
  const std::string path = ::testing::TempDir() + "/bad_trace.csv";
  std::ofstream(path) << "submit_s,duration_s,gpus,user,queue,status\n1,2,3,u,q,\n4,x,1,u,q,\n";
  try {
    ReadTrace(path, {});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), path + ":3: `x` is not a whole number");
  }
}

// Figures that change if the model of the cluster changes.
TEST(ReplayTest, FiguresOfTheTracesAreKnown) {
  const std::vector<TraceJob> philly = Philly(), helios = Helios();
  FirstComeFirstServed in_order;
  const auto mean = [](const std::vector<TraceJob>& jobs, int nodes, Policy& policy) {
    return FiguresOf(jobs, RunReplay(jobs, NodePool(nodes, 8), policy), nodes * 8, kTwoWeeks)
        .all.mean;
  };
  EXPECT_NEAR(mean(philly, 64, in_order), 72'344, 1);
  EXPECT_NEAR(mean(philly, 72, in_order), 27'029, 1);
  EXPECT_NEAR(mean(helios, 20, in_order), 13'891, 1);
  EasyBackfill easy;
  std::vector<TraceJob> limited = philly;
  SetUserLimits(1, limited);
  EXPECT_NEAR(mean(limited, 64, easy), 5'098, 1);
}

// The goals of the scheduler, for one seed. The table of README.md has all five.
TEST(ReplayTest, TheSchedulerOfTheCoreReachesItsGoals) {
  std::vector<TraceJob> jobs = Philly();
  SetUserLimits(1, jobs);
  EasyBackfill easy;
  const std::unique_ptr<Policy> core = MakeCorePolicy(64, 8);
  const ReplayFigures reference =
      FiguresOf(jobs, RunReplay(jobs, NodePool(64, 8), easy), 512, kTwoWeeks);
  const ReplayFigures ours =
      FiguresOf(jobs, RunReplay(jobs, NodePool(64, 8), *core), 512, kTwoWeeks);
  EXPECT_LE(ours.all.mean, reference.all.mean);
  EXPECT_LE(ours.eight_or_more.mean, 0.5 * reference.eight_or_more.mean);
  EXPECT_GE(ours.jain, 0.97);
  EXPECT_GE(ours.utilization, 0.87);
  EXPECT_LE(ours.restart_share, 0.001);
  EXPECT_LE(ours.most_in_a_day, 3);
  EXPECT_GT(ours.preemptions, 0);
}

TEST(ReplayTest, TheSchedulerOfTheCoreStarvesNoJobOfASmallCluster) {
  const std::vector<TraceJob> jobs = Helios();
  const std::unique_ptr<Policy> core = MakeCorePolicy(20, 8);
  const ReplayFigures ours =
      FiguresOf(jobs, RunReplay(jobs, NodePool(20, 8), *core), 160, kTwoWeeks);
  FirstComeFirstServed in_order;
  const ReplayFigures reference =
      FiguresOf(jobs, RunReplay(jobs, NodePool(20, 8), in_order), 160, kTwoWeeks);
  EXPECT_LE(ours.all.longest, reference.all.longest);
}

TEST(EstimatesTest, RatiosAreCountedOfAllJobsAskedAbout) {
  const EstimateFigures figures{.waiting_jobs = 8, .ratios = {0.5, 0.75, 1, 1.25, 3}, .asked = 6};
  EXPECT_DOUBLE_EQ(figures.ShareWithin(0.75, 1.25), 0.5);
  EXPECT_DOUBLE_EQ(figures.Quantile(0.5), 1);
  EXPECT_DOUBLE_EQ(figures.Quantile(1), 3);
}

// One job runs for 2,000 s. The next one starts then, and a third one after it.
TEST(EstimatesTest, AreExactIfNoJobArrives) {
  const std::vector<TraceJob> jobs = {Job(0, 2000, 16, 2000), Job(0, 1000, 16, 1000),
                                      Job(0, 500, 16, 500)};
  const EstimateFigures figures = MeasureEstimates(jobs, 2, 8, {1, RunTimes::kKnown});
  EXPECT_EQ(figures.waiting_jobs, 2);
  EXPECT_EQ(figures.ratios, (std::vector<double>{1, 1}));
}

// The goal of the estimates, for a part of the jobs. The table of README.md has more of them.
TEST(EstimatesTest, AreWithinAQuarterOfTheRestForFourOfFiveJobs) {
  std::vector<TraceJob> philly = Philly(), helios = Helios();
  for (TraceJob& job : philly) job.limit = job.duration;
  for (TraceJob& job : helios) job.limit = job.duration;
  const EstimateFigures large = MeasureEstimates(philly, 64, 8, {400, RunTimes::kKnown});
  EXPECT_GE(large.asked, 25);
  EXPECT_GE(large.ShareWithin(0.75, 1.25), 0.8);
  const EstimateFigures small = MeasureEstimates(helios, 20, 8, {1, RunTimes::kKnown});
  EXPECT_GE(small.asked, 50);
  EXPECT_GE(small.ShareWithin(0.75, 1.25), 0.9);
}

}  // namespace
}  // namespace trainyard::replay
