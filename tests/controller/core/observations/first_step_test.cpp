#include "controller/core/observations/first_step.h"

#include <gtest/gtest.h>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/ledger/ledger.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

std::optional<int64_t> Shown(int64_t first, int64_t second, int64_t resume_step,
                             const std::string& resume_from = "") {
  v1::Attempt attempt;
  attempt.set_placed_time_ms(1000);
  attempt.set_resume_step(resume_step);
  attempt.set_resume_from(resume_from);
  AttemptObservation observed;
  observed.first_steps = {first, second};
  return FirstStepShown(attempt, observed, 1000);
}

TEST(FirstStepTest, AFreshStartShowsNothing) {
  EXPECT_EQ(Shown(1, 2, 0), std::nullopt);
  EXPECT_EQ(Shown(10, 20, 0), std::nullopt) << "every tenth step is reported";
  EXPECT_EQ(Shown(1, 10, 0), std::nullopt) << "the first one, and every tenth";
}

TEST(FirstStepTest, AProgramThatResumesByItselfShowsWhere) {
  EXPECT_EQ(Shown(81, 82, 0), 81);
  EXPECT_EQ(Shown(2010, 2020, 0), 2001);
  EXPECT_EQ(Shown(81, 0, 0), std::nullopt) << "the distance of reports is not known yet";
}

TEST(FirstStepTest, ATrainerWithACheckpointMayBeginBeforeItOnly) {
  EXPECT_EQ(Shown(81, 82, 80, "/c/80"), std::nullopt);
  EXPECT_EQ(Shown(90, 100, 80, "/c/80"), std::nullopt);
  EXPECT_EQ(Shown(61, 62, 80, "/c/80"), 61);
  EXPECT_EQ(Shown(80, 81, 80, "/c/80"), 80) << "step 80 is in the checkpoint";
}

TEST(FirstStepTest, TheCheckpointOfAnotherProgramShowsWhereItEnded) {
  EXPECT_EQ(Shown(21, 22, 0, "/theirs/base"), 21);
  EXPECT_EQ(Shown(1, 2, 0, "/theirs/base"), std::nullopt) << "only the weights are used";
}

TEST(FirstStepTest, AControllerThatCameLaterCannotTell) {
  v1::Attempt attempt;
  attempt.set_placed_time_ms(1000);
  AttemptObservation observed;
  observed.first_steps = {81, 82};
  EXPECT_EQ(FirstStepShown(attempt, observed, 1001), std::nullopt);
  attempt.set_first_step(41);
  EXPECT_EQ(FirstStepShown(attempt, observed, 1000), std::nullopt) << "it is known already";
}

// The program writes no checkpoint records, so the resume step must come from attempt 2's first
// step. Attempt 1 trains
// 100 steps, and attempt 2 resumes after step 80: 20 steps are trained again, not 100.
TEST(FirstStepTest, RecomputeCountsFromTheLaterAttemptsFirstStep) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  for (int64_t step = 1; step <= 100; ++step) {
    cluster.Step(job, 0, step, 0.5);
    cluster.Pass(500);
  }
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Pass(2000);
  cluster.StartAll(job);
  ASSERT_EQ(cluster.Attempt(job).number(), 2);
  ASSERT_EQ(cluster.Attempt(job).resume_step(), 0) << "no checkpoint is known";
  cluster.Step(job, 0, 81, 0.1);
  cluster.Settle();
  EXPECT_EQ(cluster.Attempt(job).first_step(), 0);
  cluster.Step(job, 0, 82, 0.1);
  cluster.Settle();
  EXPECT_EQ(cluster.Attempt(job).first_step(), 81);
  double train = 0, recompute = 0;
  const v1::Ledger ledger = LedgerOf(cluster.Job(job), cluster.now);
  for (const v1::LedgerSpan& span : ledger.spans()) {
    const auto length = static_cast<double>(span.end_ms() - span.begin_ms());
    if (span.attempt() != 1) continue;
    if (span.phase() == v1::LEDGER_PHASE_TRAIN) train += length;
    if (span.phase() == v1::LEDGER_PHASE_REDONE) recompute += length;
  }
  EXPECT_NEAR(recompute / (train + recompute), 0.2, 0.001);
  const ClusterState restarted = FromSnapshot(ToSnapshot(cluster.state, 1));
  EXPECT_EQ(restarted.jobs.at(job).job.attempts(1).first_step(), 81);
}

}  // namespace
}  // namespace trainyard::controller
