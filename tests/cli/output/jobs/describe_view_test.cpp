// Tests parts of `describe` that depend only on the job.
#include "cli/output/jobs/job_views.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Timestamp kNow = 1'000'000;

std::string Described(const v1::Job& job) {
  v1::GetJobResponse response;
  *response.mutable_job() = job;
  return DescribeText(response, {}, kNow);
}

TEST(DescribeViewTest, ShowsTheJobsThatAJobWaitsFor) {
  v1::Job job;
  EXPECT_THAT(Described(job), Not(HasSubstr("After")));
  v1::Prerequisite& first = *job.add_after();
  first.set_job_id(12);
  first.set_name("filter");
  first.set_outcome(v1::JOB_STATE_SUCCEEDED);
  v1::Prerequisite& second = *job.add_after();
  second.set_job_id(13);
  second.set_name("tokens");
  EXPECT_THAT(
      Described(job),
      HasSubstr("  After       job 12 (filter) succeeded, job 13 (tokens) has not ended\n"));
}

TEST(DescribeViewTest, ShowsRequestsOfCpusAndMemory) {
  v1::Job job;
  EXPECT_THAT(Described(job), Not(HasSubstr("Requests")));
  job.mutable_spec()->mutable_resources()->set_cpus_per_rank(1);
  EXPECT_THAT(Described(job), HasSubstr("  Requests    1 CPU per rank\n"));
  job.mutable_spec()->mutable_resources()->set_memory_per_rank(int64_t{64} << 30);
  EXPECT_THAT(Described(job), HasSubstr("  Requests    1 CPU, 64.0 GiB of memory per rank\n"));
}

TEST(DescribeViewTest, ShowsTheConditionsOnOtherJobs) {
  v1::Job job;
  const auto add = [&](v1::JobCondition condition, v1::JobState outcome) -> v1::Prerequisite& {
    v1::Prerequisite& one = *job.add_after();
    one.set_job_id(job.after_size());
    one.set_name("a");
    one.set_condition(condition);
    one.set_outcome(outcome);
    return one;
  };
  add(v1::JOB_CONDITION_SUCCESS, v1::JOB_STATE_FAILED);
  add(v1::JOB_CONDITION_FAILURE, v1::JOB_STATE_UNSPECIFIED);
  add(v1::JOB_CONDITION_END, v1::JOB_STATE_STOPPED);
  add(v1::JOB_CONDITION_CHECKPOINT, v1::JOB_STATE_UNSPECIFIED);
  add(v1::JOB_CONDITION_CHECKPOINT, v1::JOB_STATE_UNSPECIFIED).set_step(50);
  add(v1::JOB_CONDITION_CHECKPOINT, v1::JOB_STATE_FAILED).set_checkpoint_step(60);
  EXPECT_THAT(Described(job),
              HasSubstr("  After       job 1 (a) failed, job 2 (a) has not ended (failure "
                        "required), job 3 (a) stopped (end required), job 4 (a) has no "
                        "checkpoint, job 5 (a) has no checkpoint at step 50 or later, job 6 (a) "
                        "has a checkpoint at step 60\n"));
}

TEST(DescribeViewTest, ShowsTheVerdictOfAFailedJobWithoutAttempts) {
  v1::Job job;
  job.set_state(v1::JOB_STATE_FAILED);
  job.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_DEPENDENCY_FAILED);
  job.mutable_verdict()->set_summary("never started: job 12 (filter) failed");
  const std::string text = Described(job);
  EXPECT_THAT(text, HasSubstr("\nVerdict\n"));
  EXPECT_THAT(text, HasSubstr("dependency_failed"));
  EXPECT_THAT(text, HasSubstr("never started: job 12 (filter) failed"));
  job.set_state(v1::JOB_STATE_STOPPED);
  EXPECT_THAT(Described(job), Not(HasSubstr("\nVerdict\n")));
}

TEST(DescribeViewTest, ShowsTheRestOfTheTimeLimit) {
  v1::Job job;
  EXPECT_THAT(Described(job), Not(HasSubstr("Time limit")));
  job.mutable_spec()->mutable_time_limit()->set_seconds(43200);
  job.mutable_time_limit_use()->set_remaining_ms(11'400'000);
  EXPECT_THAT(Described(job), HasSubstr("  Time limit  3h10m left, then ended\n"));
  job.mutable_spec()->set_at_time_limit(v1::AT_TIME_LIMIT_REQUEUE);
  job.mutable_time_limit_use()->set_extended_ms(7'200'000);
  job.mutable_time_limit_use()->set_requeues(3);
  EXPECT_THAT(Described(job), HasSubstr("  Time limit  3h10m left, then queued again; extended by "
                                        "2h00m; requeues: 3\n"));
  job.set_state(v1::JOB_STATE_STOPPED);
  EXPECT_THAT(Described(job), Not(HasSubstr("Time limit")));
}

TEST(DescribeViewTest, AJobThatItsTimeLimitEndedNeedsNoRetry) {
  v1::Verdict verdict;
  verdict.set_cause(v1::VERDICT_CAUSE_TIME_LIMIT);
  verdict.set_summary("ended by its time limit of 12 h");
  EXPECT_THAT(VerdictText(verdict, {}), Not(HasSubstr("Retry")));
}

TEST(DescribeViewTest, AnElasticJobShowsItsSizeAndItsRange) {
  v1::Job job;
  job.mutable_spec()->set_min_nodes(2);
  job.mutable_spec()->mutable_resources()->set_nodes(8);
  job.mutable_spec()->mutable_resources()->set_slots_per_node(4);
  job.mutable_spec()->mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  EXPECT_THAT(Described(job), HasSubstr("2..8 nodes x 4 gpu"));
  job.add_attempts()->mutable_layout()->set_nodes(6);
  EXPECT_THAT(Described(job), HasSubstr("6 of 2..8 nodes x 4 gpu"));
}

TEST(DescribeViewTest, ADataJobHasDocumentsInsteadOfSteps) {
  v1::Job job;
  job.set_state(v1::JOB_STATE_RUNNING);
  v1::Progress& progress = *job.mutable_progress();
  progress.set_time_ms(kNow);
  progress.set_step(40);
  progress.set_eta_seconds(95);
  progress.mutable_data()->set_stage(2);
  progress.mutable_data()->set_stages(5);
  progress.mutable_data()->set_documents(1200);
  progress.mutable_data()->set_bytes_per_second(80e6);
  const std::string text = Described(job);
  for (const char* line : {"  Step        2 of 5\n", "  Documents   1.2k read\n",
                           "  Speed       80.0 MB/s\n", "  ETA         1m35s\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("Step        40")));
}

}  // namespace
}  // namespace trainyard::cli
