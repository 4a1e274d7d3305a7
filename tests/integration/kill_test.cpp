// Kills controller, workers and ranks in random order, one at a time, while a job trains and other
// jobs are submitted. At the end, all acknowledged data must exist exactly once.
//
// TRAINYARD_KILLS is the number of kills (50 by default). TRAINYARD_KILL_SEED selects them (1 by
// default). Each round of 50 kills has a separate job, because the controller keeps only the newest
// 100 attempts of a job.
#include <signal.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/fakes/environment_number.h"
#include "tests/integration/chaos_job.h"

namespace trainyard::test {
namespace {

constexpr int kKillsPerRound = 50;

class KillTest : public testing::Test {
 protected:
  static constexpr int kNodes = 2;

  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(Below(600))); }

  void RunRound(int round, int kills) {
    ChaosJob job(cluster_, absl::StrCat("chaos-", round), kNodes);
    killed_ranks_.clear();
    for (int i = 0; i < kills; ++i) {
      Pause();
      KillSomething(job);
      if (i % 5 == 0) SubmitSmallJob(absl::StrCat("small-", round, "-", i));
    }
    CheckJob(job, job.Finish());
  }

  void KillSomething(const ChaosJob& job) {
    switch (Below(3)) {
      case 0:
        cluster_.KillController();
        cluster_.StartController();
        break;
      case 1:
        KillWorker(Below(kNodes));
        break;
      default:
        KillRank(job);
    }
  }

  void KillWorker(int node) {
    cluster_.KillWorker(node);
    Pause();
    cluster_.StartWorker(node);
  }

  // Waits until a rank is running, and kills it.
  void KillRank(const ChaosJob& job) {
    const int rank = Below(kNodes);
    const bool killed = Eventually([&] {
      const int64_t attempt_number = job.AttemptNumber();
      const pid_t pid = attempt_number == 0 ? 0 : job.RunningRank(attempt_number, rank);
      if (pid == 0 || kill(pid, SIGKILL) != 0) return false;
      killed_ranks_[attempt_number].insert(rank);
      return true;
    });
    EXPECT_TRUE(killed) << "the job does not come back: " << cluster_.Job(job.id()).DebugString();
  }

  // While the controller is dead, submitting may fail without an acknowledgement. The job counts as
  // acknowledged once the command returns a job number.
  void SubmitSmallJob(const std::string& name) {
    const std::string file =
        cluster_.WriteJob(name, absl::StrCat("name: ", name,
                                             "\nresources: {device: cpu}\nrestart: {max_restarts: "
                                             "100, backoff: 0}\ncommand: [/bin/echo, ",
                                             name, "]\n"));
    small_jobs_[cluster_.Submit(file)] = name;
  }

  void CheckJob(const ChaosJob& chaos, const v1::Job& job) {
    ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
    // Only the kill of a rank may end an attempt. Each verdict must name the killed rank.
    EXPECT_EQ(job.attempts_size(), static_cast<int>(killed_ranks_.size()) + 1);
    for (int i = 0; i + 1 < job.attempts_size(); ++i) {
      const v1::Attempt& attempt = job.attempts(i);
      EXPECT_EQ(attempt.verdict().cause(), v1::VERDICT_CAUSE_RANK_SIGNALED)
          << attempt.DebugString();
      EXPECT_EQ(attempt.verdict().signal(), SIGKILL);
      EXPECT_TRUE(killed_ranks_[attempt.number()].contains(attempt.verdict().rank()))
          << attempt.DebugString();
      EXPECT_EQ(job.attempts(i + 1).number(), attempt.number() + 1);
    }
    chaos.ExpectAllStored(job);
  }

  void CheckSmallJobs() {
    for (const auto& [id, name] : small_jobs_) {
      const v1::Job job = cluster_.WaitForEnd(id);
      EXPECT_EQ(job.name(), name);
      EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
      EXPECT_EQ(job.attempts_size(), 1);
      const int64_t job_id = id;
      EXPECT_TRUE(Eventually([&] { return cluster_.Logs(job_id, 0, 1).size() == 1; })) << name;
    }
  }

  const int64_t seed_ = EnvironmentNumber("TRAINYARD_KILL_SEED", 1);
  std::mt19937 random_{static_cast<unsigned>(seed_)};
  MiniCluster cluster_{kNodes, 2};
  std::map<int64_t, std::set<int>> killed_ranks_;
  std::map<int64_t, std::string> small_jobs_;
};

TEST_F(KillTest, NothingAcknowledgedIsLost) {
  const auto kills = static_cast<int>(EnvironmentNumber("TRAINYARD_KILLS", 50));
  std::cout << "seed " << seed_ << ", " << kills << " kills" << std::endl;
  for (int done = 0, round = 0; done < kills && !HasFailure(); done += kKillsPerRound, ++round) {
    RunRound(round, std::min(kKillsPerRound, kills - done));
  }
  CheckSmallJobs();
}

}  // namespace
}  // namespace trainyard::test
