#include "cli/output/jobs/progress_line.h"

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class ManualClock : public Clock {
 public:
  Timestamp Now() const override { return now; }
  Timestamp now = 1000000;
};

class ProgressLineTest : public ::testing::Test {
 protected:
  ProgressLineTest() {
    console_.err = &err_;
    console_.clock = &clock_;
    job_.set_id(3);
    job_.set_state(v1::JOB_STATE_RUNNING);
    job_.add_attempts()->set_number(1);
    job_.mutable_progress()->set_step(1);
    job_.mutable_progress()->set_total_steps(4);
    job_.mutable_progress()->set_loss(2);
    job_.mutable_progress()->set_time_ms(clock_.now);
  }

  std::string Take() {
    const std::string text = err_.str();
    err_.str("");
    return text;
  }

  ManualClock clock_;
  std::ostringstream err_;
  Console console_;
  v1::Job job_;
};

TEST_F(ProgressLineTest, ALogFileGetsALineAtChangesAndEveryFewSeconds) {
  ProgressLine line(console_);
  line.Show(job_);
  EXPECT_EQ(Take(), "job 3 running (attempt 1)\nrunning  step 1/4 (25%)  loss 2.0000\n");
  clock_.now += 1000;
  line.Show(job_);
  EXPECT_EQ(Take(), "");
  clock_.now += 5000;
  line.Show(job_);
  EXPECT_EQ(Take(), "running  step 1/4 (25%)  loss 2.0000\n");
  job_.set_state(v1::JOB_STATE_RECOVERING);
  job_.mutable_attempts(0)->mutable_verdict()->set_summary("rank 1 exited with 70");
  line.Show(job_);
  EXPECT_EQ(Take(), "job 3 recovering: rank 1 exited with 70\n");
}

TEST_F(ProgressLineTest, ATerminalIsClearedBeforeALineThatStays) {
  console_.err_is_tty = true;
  console_.width = 12;
  ProgressLine line(console_);
  line.Show(job_);
  Take();
  line.Note("hello");
  EXPECT_EQ(Take(), "\r\033[Khello\n");
  line.Show(job_);
  EXPECT_EQ(Take(), "\r\033[Krunning  s…");
  line.Clear();
  EXPECT_EQ(Take(), "\r\033[K");
  line.Clear();
  EXPECT_EQ(Take(), "");
}

TEST_F(ProgressLineTest, SpeedIsShownByThoseWhoReportIt) {
  job_.mutable_progress()->set_tokens_per_second(7540);
  EXPECT_EQ(ProgressText(job_, clock_.now), "running  step 1/4 (25%)  loss 2.0000  7.54k tok/s");
}

TEST_F(ProgressLineTest, AnOldRateIsNotShownAsNow) {
  job_.mutable_progress()->set_tokens_per_second(7540);
  job_.mutable_progress()->set_eta_seconds(9);
  clock_.now += 60000;
  EXPECT_EQ(ProgressText(job_, clock_.now),
            "running  step 1/4 (25%)  loss 2.0000  last report 1m00s ago");
}

TEST_F(ProgressLineTest, ALossThatNobodyReportedIsNotZero) {
  job_.mutable_progress()->clear_loss();
  EXPECT_EQ(ProgressText(job_, clock_.now), "running  step 1/4 (25%)");
  job_.set_state(v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(EndText(job_), "job 3  succeeded: step 1");
}

TEST_F(ProgressLineTest, AnEndedDataJobShowsTheDocumentsOfAllItsSteps) {
  v1::DataProgress& data = *job_.mutable_progress()->mutable_data();
  data.set_stage(3);
  data.set_stages(3);
  data.set_documents(40);
  data.set_read_documents(100);
  job_.set_state(v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(EndText(job_), HasSubstr("succeeded: 100 documents read, 40 kept"));
  job_.set_state(v1::JOB_STATE_STOPPED);
  EXPECT_THAT(EndText(job_), HasSubstr("stopped: step 3/3  40 documents"));
}

TEST_F(ProgressLineTest, EvaluationSetsOfAnyNameAreShown) {
  job_.mutable_progress()->set_validation_loss(2.5);
  EXPECT_THAT(ProgressText(job_, clock_.now), HasSubstr("  loss 2.0000  val 2.5000"))
      << "an older controller";
  const auto add = [&](const std::string& set, double loss) {
    v1::EvaluatedLoss& evaluated = *job_.mutable_progress()->add_evaluations();
    evaluated.set_data_set(set);
    evaluated.set_loss(loss);
  };
  add("code", 1.08);
  add("val", 2.5);
  EXPECT_THAT(ProgressText(job_, clock_.now), HasSubstr("  loss 2.0000  code 1.0800  val 2.5000"));
  job_.set_state(v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(EndText(job_),
            "job 3  succeeded: step 1, loss 2.0000, code loss 1.0800, validation loss 2.5000");
  for (const char* set : {"web", "wiki", "zoo"}) add(set, 3);
  EXPECT_THAT(EndText(job_), HasSubstr("web loss 3.0000, wiki loss 3.0000, +1 set"));
}

TEST_F(ProgressLineTest, TheBackoffIsCountedDown) {
  job_.set_state(v1::JOB_STATE_RECOVERING);
  job_.set_not_before_ms(clock_.now + 4000);
  EXPECT_EQ(ProgressText(job_, clock_.now),
            "recovering  step 1/4 (25%)  loss 2.0000  next try in 4s");
}

}  // namespace
}  // namespace trainyard::cli
