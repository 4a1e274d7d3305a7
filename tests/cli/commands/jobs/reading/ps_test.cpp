// Tests `ps` and `job list`.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

v1::ListJobsResponse TwoJobs() {
  v1::ListJobsResponse page;
  *page.add_jobs() = QueuedJob();
  *page.add_jobs() = RunningJob();
  page.mutable_jobs(1)->mutable_health()->set_word(v1::HEALTH_WORD_STALLED);
  (*page.mutable_pending())[18].set_message("needs 2 nodes with 1 free slot; 1 is free");
  return page;
}

class PsTest : public CliFixture {};

TEST_F(PsTest, PsPrintsATable) {
  answers().pages.push_back(TwoJobs());
  const CliResult result = Run({"ps"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(
      result.out,
      "ID  NAME   STATE    HEALTH      STEP    LOSS  TOK/S    ETA    AGE  REASON\n"
      "18  waits  queued   -              -       -      -      -     5s  needs 2 nodes with 1 "
      "free slot; 1 is free\n"
      "17  tiny   running  stalled  120/300  3.2012  5.23k  1m12s  3m12s\n");
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(PsTest, PsAsksForLiveJobsUnlessToldOtherwise) {
  answers().pages.push_back({});
  Run({"ps"});
  Run({"ps", "-a", "-u", "bob"});
  Run({"ps", "--state", "failed"});
  ASSERT_EQ(answers().list_requests.size(), 3u);
  EXPECT_THAT(answers().list_requests[0].states(),
              ElementsAre(v1::JOB_STATE_QUEUED, v1::JOB_STATE_STARTING, v1::JOB_STATE_RUNNING,
                          v1::JOB_STATE_RECOVERING, v1::JOB_STATE_STOPPING, v1::JOB_STATE_PAUSING,
                          v1::JOB_STATE_PAUSED, v1::JOB_STATE_HELD));
  EXPECT_THAT(answers().list_requests[1].states(), IsEmpty());
  EXPECT_EQ(answers().list_requests[1].user(), "bob");
  EXPECT_THAT(answers().list_requests[2].states(), ElementsAre(v1::JOB_STATE_FAILED));
}

TEST_F(PsTest, PsShowsFailuresAndStopsThatLostStepsInRed) {
  v1::ListJobsResponse page;
  for (const v1::JobState state : {v1::JOB_STATE_FAILED, v1::JOB_STATE_STOPPED}) {
    *page.add_jobs() = RunningJob();
    page.mutable_jobs()->rbegin()->set_state(state);
  }
  answers().pages.push_back(page);
  page.mutable_jobs(1)->mutable_verdict()->set_lost_steps(3338);
  answers().pages.push_back(page);
  environment_.console.out_color = true;
  const std::string red_failure = "\033[31mfailed\033[0m", red_stop = "\033[31mstopped\033[0m";
  const std::string saved = Run({"ps", "-a"}).out;
  EXPECT_THAT(saved, HasSubstr(red_failure));
  EXPECT_THAT(saved, Not(HasSubstr(red_stop)));
  EXPECT_THAT(Run({"ps", "-a"}).out, HasSubstr(red_stop));
  environment_.console.out_color = false;
  EXPECT_THAT(Run({"ps", "-a"}).out, Not(HasSubstr("\033[")));
}

TEST_F(PsTest, PsIsCutToTheTerminalButNeverInAPipe) {
  answers().pages.push_back(TwoJobs());
  environment_.console.width = 60;
  EXPECT_THAT(Run({"ps"}).out, HasSubstr("1 is free\n"));
  environment_.console.out_is_tty = true;
  const std::string cut = Run({"ps"}).out;
  EXPECT_THAT(cut, HasSubstr("…\n"));
  EXPECT_THAT(cut, Not(HasSubstr("1 is free")));
  EXPECT_THAT(Run({"ps", "-o", "json"}).out, HasSubstr("1 is free"));
}

TEST_F(PsTest, TheReasonSurvives80Columns) {
  v1::ListJobsResponse page = TwoJobs();
  for (v1::Job& job : *page.mutable_jobs()) job.set_name("a-name-that-takes-its-place");
  (*page.mutable_pending())[18].set_message("node-2 is cordoned: bad fan (user ada); and more");
  answers().pages.push_back(page);
  environment_.console.width = 80;
  environment_.console.out_is_tty = true;
  const std::string out = Run({"ps"}).out;
  EXPECT_THAT(out, HasSubstr("node-2 is cordoned: bad"));
  EXPECT_THAT(out, HasSubstr("120/300"));
}

TEST_F(PsTest, AStopThatLostStepsHasItsReason) {
  v1::ListJobsResponse page;
  v1::Job& lost = *page.add_jobs() = EndedJob(v1::JOB_STATE_STOPPED);
  lost.mutable_verdict()->set_summary("stopped by a user; 40 steps after step 80 are lost");
  lost.mutable_verdict()->set_lost_steps(40);
  answers().pages.push_back(page);
  EXPECT_THAT(Run({"ps", "-a"}).out, HasSubstr("40 steps after step 80 are lost"));
  answers().pages.front().mutable_jobs(0)->mutable_verdict()->clear_lost_steps();
  EXPECT_THAT(Run({"ps", "-a"}).out, Not(HasSubstr("after step 80")));
}

TEST_F(PsTest, AJobThatStoppedReportingHasNoRateAndNoEta) {
  v1::ListJobsResponse page;
  *page.add_jobs() = RunningJob();
  page.mutable_jobs(0)->mutable_progress()->set_time_ms(kNow - 600000);
  answers().pages.push_back(page);
  EXPECT_EQ(Run({"ps"}).out,
            "ID  NAME  STATE    HEALTH     STEP    LOSS  TOK/S  ETA    AGE  REASON\n"
            "17  tiny  running  -       120/300  3.2012      -    -  3m12s\n");
  EXPECT_THAT(Run({"ps", "-o", "csv"}).out, HasSubstr("\n17,tiny,ada,running,,120,3.20125,,,2x1,"));
  const nlohmann::json job = nlohmann::json::parse(Run({"ps", "-o", "json"}).out)[0];
  EXPECT_EQ(job["progress"]["tokens_per_second"], nullptr);
  EXPECT_EQ(job["progress"]["eta_seconds"], nullptr);
  EXPECT_EQ(job["progress"]["step"], 120);
}

TEST_F(PsTest, TheControllersClockDecidesWhatIsOld) {
  v1::ListJobsResponse page;
  *page.add_jobs() = RunningJob();
  page.set_as_of_ms(kNow);
  answers().pages.push_back(page);
  clock_.now = kNow + 600000;  // This machine's clock is ten minutes ahead.
  EXPECT_THAT(Run({"ps"}).out, HasSubstr("5.23k  1m12s  3m12s"));
}

TEST_F(PsTest, AProgramThatReportsOnlyStepsHasNoLossOfZero) {
  v1::ListJobsResponse page;
  *page.add_jobs() = RunningJob();
  page.mutable_jobs(0)->clear_progress();
  page.mutable_jobs(0)->mutable_progress()->set_step(7);
  page.mutable_jobs(0)->mutable_progress()->set_time_ms(kNow);
  answers().pages.push_back(page);
  EXPECT_EQ(Run({"ps"}).out,
            "ID  NAME  STATE    HEALTH  STEP  LOSS  TOK/S  ETA    AGE  REASON\n"
            "17  tiny  running  -          7     -      -    -  3m12s\n");
}

TEST_F(PsTest, PsJsonHasStableKeysAndIsoTimes) {
  answers().pages.push_back(TwoJobs());
  const nlohmann::json jobs = nlohmann::json::parse(Run({"ps", "-o", "json"}).out);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[1]["submitted_time"], "2026-11-21T11:56:48.000Z");
  EXPECT_EQ(jobs[1]["ended_time"], nullptr);
  EXPECT_EQ(jobs[1]["pending"], nullptr);
  EXPECT_EQ(jobs[0]["progress"], nullptr);
  EXPECT_EQ(jobs[0]["attempts"], nlohmann::json::array());
  EXPECT_EQ(jobs[0]["pending"]["queue_position"], nullptr);
  std::vector<std::string> first, second;
  for (const auto& [key, value] : jobs[0].items()) first.push_back(key);
  for (const auto& [key, value] : jobs[1].items()) second.push_back(key);
  EXPECT_EQ(first, second);
}

TEST_F(PsTest, PsOtherFormats) {
  answers().pages.push_back(TwoJobs());
  EXPECT_EQ(Run({"ps", "-o", "name"}).out, "18\n17\n");
  EXPECT_THAT(Run({"ps", "-o", "wide"}).out, HasSubstr("USER"));
  EXPECT_THAT(Run({"ps", "-o", "csv"}).out,
              HasSubstr("\n17,tiny,ada,running,stalled,120,3.20125,5234.0,72.0,2x1,2,192,"
                        "2026-11-21T11:56:48.000Z,\n"));
  EXPECT_THAT(Run({"ps", "-o", "yaml"}).out, HasSubstr("name: \"tiny\"\n"));
}

TEST_F(PsTest, PsFollowsTheCursorUpToTheLimit) {
  v1::ListJobsResponse first = TwoJobs();
  first.set_next_cursor("c1");
  v1::ListJobsResponse second;
  *second.add_jobs() = RunningJob();
  second.set_next_cursor("c2");
  answers().pages = {first, second};
  const CliResult result = Run({"ps", "-o", "name", "--limit", "3"});
  EXPECT_EQ(result.out, "18\n17\n17\n");
  EXPECT_THAT(result.err, HasSubstr("showing the newest 3"));
  ASSERT_EQ(answers().list_requests.size(), 2u);
  EXPECT_EQ(answers().list_requests[1].cursor(), "c1");
  EXPECT_EQ(answers().list_requests[1].limit(), 1);
}

TEST_F(PsTest, PsEndsWhenAServerSendsEmptyPagesForEver) {
  v1::ListJobsResponse page;
  page.set_next_cursor("again");
  answers().pages.push_back(page);
  EXPECT_EQ(Run({"ps"}).exit_code, 0);
  EXPECT_EQ(answers().list_requests.size(), 1u);
}

TEST_F(PsTest, AnEmptyListWithAFilterSaysThatNothingMatches) {
  answers().pages.push_back({});
  EXPECT_EQ(Run({"ps", "--state", "failed"}).err, "no job matches\n");
  EXPECT_EQ(Run({"ps", "-a", "-u", "zed"}).err, "no job matches\n");
  EXPECT_EQ(Run({"ps", "-u", "zed"}).err, "no job matches; add -a to include ended jobs\n");
}

TEST_F(PsTest, AnEmptyListSaysWhatToDo) {
  answers().pages.push_back({});
  EXPECT_THAT(Run({"ps"}).err, HasSubstr("`trainyard ps -a`"));
  EXPECT_THAT(Run({"ps", "-a"}).err, HasSubstr("trainyard submit"));
  EXPECT_EQ(Run({"ps", "-o", "json"}).out, "[]\n");
  EXPECT_THAT(Run({"ps", "-o", "json"}).err, IsEmpty());
}

}  // namespace
}  // namespace trainyard::cli
