#include "controller/core/state/jobs/prerequisites.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

constexpr v1::JobState kOpen = v1::JOB_STATE_UNSPECIFIED, kGood = v1::JOB_STATE_SUCCEEDED,
                       kBad = v1::JOB_STATE_FAILED, kStopped = v1::JOB_STATE_STOPPED;

v1::Prerequisite PrerequisiteOf(v1::JobCondition condition, v1::JobState outcome) {
  v1::Prerequisite prerequisite;
  prerequisite.set_condition(condition);
  prerequisite.set_outcome(outcome);
  if (outcome != kOpen) prerequisite.set_ended_time_ms(50);
  return prerequisite;
}

v1::Prerequisite CheckpointFrom(int64_t step) {
  v1::Prerequisite prerequisite = PrerequisiteOf(v1::JOB_CONDITION_CHECKPOINT, kOpen);
  prerequisite.set_step(step);
  return prerequisite;
}

v1::Checkpoint SavedAt(int64_t step) {
  v1::Checkpoint checkpoint;
  checkpoint.set_step(step);
  return checkpoint;
}

// Returns job 9, which waits for the success of the jobs 1 and 2.
v1::Job JobAfter(v1::JobState first, v1::JobState second) {
  v1::Job job;
  job.set_id(9);
  job.add_after()->set_job_id(1);
  job.add_after()->set_job_id(2);
  job.mutable_after(0)->set_outcome(first);
  job.mutable_after(1)->set_outcome(second);
  return job;
}

TEST(PrerequisitesTest, AJobWaitsUntilAllConditionsAreMet) {
  EXPECT_FALSE(IsDependent(v1::Job()));
  EXPECT_TRUE(IsDependent(JobAfter(kOpen, kGood)));
  EXPECT_TRUE(IsDependent(JobAfter(kGood, kBad)));
  EXPECT_FALSE(IsDependent(JobAfter(kGood, kGood)));
}

TEST(PrerequisitesTest, EachConditionIsMetByItsOutcomes) {
  struct Case {
    v1::JobCondition condition;
    bool good, bad, stopped;
  };
  for (const Case& one : {Case{v1::JOB_CONDITION_UNSPECIFIED, true, false, false},
                          Case{v1::JOB_CONDITION_SUCCESS, true, false, false},
                          Case{v1::JOB_CONDITION_FAILURE, false, true, false},
                          Case{v1::JOB_CONDITION_END, true, true, true},
                          Case{v1::JOB_CONDITION_CHECKPOINT, false, false, false}}) {
    const auto expect = [&](v1::JobState outcome, bool met) {
      const v1::Prerequisite prerequisite = PrerequisiteOf(one.condition, outcome);
      EXPECT_EQ(IsMet(prerequisite), met) << one.condition << " " << outcome;
      EXPECT_EQ(EndedUnmet(prerequisite), outcome != kOpen && !met);
      EXPECT_EQ(MetTime(prerequisite), met ? 50 : 0);
    };
    expect(kOpen, false);
    expect(kGood, one.good);
    expect(kBad, one.bad);
    expect(kStopped, one.stopped);
  }
}

TEST(PrerequisitesTest, TheFirstSoundCheckpointFromTheStepMeetsTheCondition) {
  v1::Prerequisite prerequisite = CheckpointFrom(20);
  EXPECT_FALSE(MeetByCheckpoint(SavedAt(19), prerequisite));
  v1::Checkpoint bad = SavedAt(20);
  bad.set_damaged(true);
  EXPECT_FALSE(MeetByCheckpoint(bad, prerequisite));
  bad.set_damaged(false);
  bad.set_rolled_back(true);
  EXPECT_FALSE(MeetByCheckpoint(bad, prerequisite));
  bad.set_rolled_back(false);
  bad.set_deleted(true);
  EXPECT_FALSE(MeetByCheckpoint(bad, prerequisite));
  EXPECT_FALSE(IsMet(prerequisite));
  EXPECT_TRUE(MeetByCheckpoint(SavedAt(20), prerequisite));
  EXPECT_TRUE(IsMet(prerequisite));
  EXPECT_FALSE(MeetByCheckpoint(SavedAt(30), prerequisite));
  EXPECT_EQ(prerequisite.checkpoint_step(), 20);
  v1::Prerequisite any = CheckpointFrom(0);
  EXPECT_TRUE(MeetByCheckpoint(SavedAt(0), any));
  EXPECT_TRUE(IsMet(any)) << "the step of a checkpoint may be 0";
  v1::Prerequisite success = PrerequisiteOf(v1::JOB_CONDITION_SUCCESS, kOpen);
  EXPECT_FALSE(MeetByCheckpoint(SavedAt(30), success));
  EXPECT_FALSE(success.has_checkpoint_step());
}

TEST(PrerequisitesTest, ACheckpointCountsFromTheTimeOfItsReport) {
  v1::Prerequisite prerequisite = CheckpointFrom(0);
  ASSERT_TRUE(MeetByCheckpoint(SavedAt(10), prerequisite));
  prerequisite.set_checkpoint_time_ms(40);
  prerequisite.set_outcome(kBad);
  prerequisite.set_ended_time_ms(50);
  EXPECT_EQ(MetTime(prerequisite), 40);
  EXPECT_FALSE(EndedUnmet(prerequisite));
}

TEST(PrerequisitesTest, TheIndexesKnowOpenAndFailedPrerequisites) {
  ClusterState state;
  const v1::Job job = JobAfter(kOpen, kStopped);
  AddDependencies(job, state);
  EXPECT_EQ(state.dependents, (std::map<int64_t, std::set<int64_t>>{{1, {9}}}));
  EXPECT_EQ(state.unsatisfiable_jobs, std::set<int64_t>{9});
  RemoveDependencies(job, state);
  EXPECT_TRUE(state.dependents.empty());
  EXPECT_TRUE(state.unsatisfiable_jobs.empty());
}

// The report of a checkpoint may arrive after the end of the job.
TEST(PrerequisitesTest, AMissingCheckpointOfAnEndedJobStaysInTheIndex) {
  ClusterState state;
  v1::Job job = JobAfter(kGood, kGood);
  job.mutable_after(1)->set_condition(v1::JOB_CONDITION_CHECKPOINT);
  AddDependencies(job, state);
  EXPECT_EQ(state.dependents, (std::map<int64_t, std::set<int64_t>>{{2, {9}}}));
  EXPECT_EQ(state.unsatisfiable_jobs, std::set<int64_t>{9});
  RemoveDependencies(job, state);
  job.mutable_after(1)->set_checkpoint_step(10);
  AddDependencies(job, state);
  EXPECT_TRUE(state.dependents.empty());
  EXPECT_TRUE(state.unsatisfiable_jobs.empty());
}

}  // namespace
}  // namespace trainyard::controller
