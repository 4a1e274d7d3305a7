#include "tests/simulation/checkers/linearizability.h"

#include <gtest/gtest.h>

#include "tests/simulation/world/random.h"

namespace trainyard::simulation {
namespace {

JobOperation Submit(int client, const std::string& job, int64_t invoked,
                    int64_t returned = JobOperation::kNever) {
  return {.client = client,
          .action = JobAction::kSubmit,
          .job = job,
          .invoked = invoked,
          .returned = returned};
}

JobOperation Stop(int client, const std::string& job, int64_t invoked,
                  int64_t returned = JobOperation::kNever, bool was_stopped = false) {
  return {.client = client,
          .action = JobAction::kStop,
          .job = job,
          .invoked = invoked,
          .returned = returned,
          .was_stopped = was_stopped};
}

JobOperation List(int client, const std::map<std::string, bool>& jobs, int64_t invoked,
                  int64_t returned) {
  return {.client = client, .invoked = invoked, .returned = returned, .jobs = jobs};
}

TEST(LinearizabilityTest, AcceptsSequentialHistories) {
  EXPECT_EQ(CheckLinearizable({}), "");
  EXPECT_EQ(CheckLinearizable({List(1, {}, 1, 2), Submit(1, "a", 3, 4),
                               List(1, {{"a", false}}, 5, 6), Stop(1, "a", 7, 8),
                               List(1, {{"a", true}}, 9, 10), Stop(1, "a", 11, 12, true)}),
            "");
}

TEST(LinearizabilityTest, AListAfterTheAnswerShowsTheJob) {
  EXPECT_EQ(CheckLinearizable({Submit(1, "a", 1, 2), List(2, {{"a", false}}, 3, 4)}), "");
  EXPECT_NE(CheckLinearizable({Submit(1, "a", 1, 2), List(2, {}, 3, 4)}), "");
}

TEST(LinearizabilityTest, AListDuringASubmissionMayShowEither) {
  EXPECT_EQ(CheckLinearizable({Submit(1, "a", 1, 5), List(2, {}, 2, 3)}), "");
  EXPECT_EQ(CheckLinearizable({Submit(1, "a", 1, 5), List(2, {{"a", false}}, 2, 3)}), "");
  EXPECT_EQ(
      CheckLinearizable({Submit(1, "a", 1, 9), List(2, {}, 2, 3), List(2, {{"a", false}}, 4, 5)}),
      "");
}

TEST(LinearizabilityTest, ListsDoNotGoBack) {
  EXPECT_NE(
      CheckLinearizable({Submit(1, "a", 1, 9), List(2, {{"a", false}}, 2, 3), List(2, {}, 4, 5)}),
      "");
  EXPECT_NE(
      CheckLinearizable({Submit(1, "a", 1, 9), List(2, {{"a", false}}, 2, 3), List(3, {}, 4, 5)}),
      "");
}

TEST(LinearizabilityTest, ListsOfTwoClientsAgreeOnTheOrder) {
  const JobOperation a = Submit(1, "a", 1, 20);
  const JobOperation b = Submit(2, "b", 1, 20);
  EXPECT_EQ(CheckLinearizable(
                {a, b, List(3, {{"a", false}}, 2, 3), List(4, {{"a", false}, {"b", false}}, 4, 5)}),
            "");
  EXPECT_NE(CheckLinearizable({a, b, List(3, {{"a", false}}, 2, 3), List(4, {{"b", false}}, 4, 5)}),
            "");
}

TEST(LinearizabilityTest, AnOperationWithoutAnAnswerTakesEffectOnceOrNever) {
  const JobOperation lost = Submit(1, "a", 1);
  EXPECT_EQ(CheckLinearizable({lost, List(2, {}, 2, 3)}), "");
  EXPECT_EQ(CheckLinearizable({lost, List(2, {}, 2, 3), List(2, {{"a", false}}, 4, 5)}), "");
  EXPECT_NE(CheckLinearizable({lost, List(2, {{"a", false}}, 2, 3), List(2, {}, 4, 5)}), "");
  EXPECT_NE(CheckLinearizable({Submit(2, "a", 2, 3), Stop(1, "a", 1), List(2, {{"a", true}}, 4, 5),
                               List(2, {{"a", false}}, 6, 7)}),
            "");
}

TEST(LinearizabilityTest, OnlyAStoppedJobWasStopped) {
  EXPECT_NE(CheckLinearizable({Submit(1, "a", 1, 2), Stop(1, "a", 3, 4, true)}), "");
  EXPECT_EQ(CheckLinearizable({Submit(1, "a", 1, 2), Stop(1, "a", 3, 9), Stop(2, "a", 4, 8, true)}),
            "");
  EXPECT_NE(CheckLinearizable({Submit(1, "a", 1, 2), Stop(2, "a", 3, 4, true), Stop(1, "a", 5, 6)}),
            "");
}

TEST(LinearizabilityTest, AStopNeedsItsJob) {
  EXPECT_NE(CheckLinearizable({Stop(1, "a", 1, 2), Submit(2, "a", 3, 4)}), "");
  EXPECT_EQ(CheckLinearizable({Stop(1, "a", 1, 5), Submit(2, "a", 3, 4)}), "");
}

TEST(LinearizabilityTest, NamesTheOperationsThatDoNotFit) {
  const std::string text = CheckLinearizable({Submit(1, "a", 1, 2), List(2, {}, 3, 4)});
  EXPECT_NE(text.find("client 2 [3, 4] list"), std::string::npos) << text;
}

// Histories of a store with one copy, with random times of calls and answers around the moments at
// which operations take effect. Each of them is linearizable, and with one list of another moment,
// it is not.
TEST(LinearizabilityTest, DistinguishesRandomHistories) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    std::vector<JobOperation> history;
    std::map<std::string, bool> jobs;
    std::map<int, int64_t> free_at;  // The time of each client's last answer.
    for (int64_t at = 10; at < 400; at += 10) {
      const int client = static_cast<int>(random.Between(1, 3));
      const int64_t invoked = std::max(free_at[client], at - random.Between(0, 25)) + 1;
      if (invoked > at) continue;
      JobOperation operation = {.client = client, .invoked = invoked};
      operation.returned = at + random.Between(0, 25);
      free_at[client] = operation.returned;
      const std::string job = "job" + std::to_string(random.Between(0, 9));
      if (!jobs.contains(job)) {
        operation.action = JobAction::kSubmit;
        jobs[job] = false;
      } else if (random.Chance(0.3)) {
        operation.action = JobAction::kStop;
        operation.was_stopped = jobs[job];
        jobs[job] = true;
      }
      if (operation.action == JobAction::kList) operation.jobs = jobs;
      operation.job = job;
      history.push_back(operation);
    }
    EXPECT_EQ(CheckLinearizable(history), "") << "seed " << seed;
    history.push_back(List(4, {{"another", false}}, 1'000, 1'001));
    EXPECT_NE(CheckLinearizable(history), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace trainyard::simulation
