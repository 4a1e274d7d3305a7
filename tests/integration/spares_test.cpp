// Tests recovery in place with real processes. A spare node replaces a lost rank or node in the
// running attempt. Most tests run our trainer. Tests that concern only the daemons run
// healing_trainer.py, which follows the contract of worker/README.md.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/environment_number.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr int kTrainingNodes = 4;

// A heal loses one step if snapshots are taken while steps run. Under load, our trainer takes
// snapshots less often (trainer/healing/snapshot_interval.h), so more steps may be lost.
constexpr int64_t kMostLostSteps = 10;

// A gang of four ranks and its spare nodes. Each rank is on a separate node.
class GangWithSpares : public testing::Test {
 protected:
  // `script` is the program to run instead of trainyard-trainer; "" runs trainyard-trainer.
  explicit GangWithSpares(const std::string& script, int spares = 1)
      : cluster_(0), spares_(spares) {
    if (!script.empty()) cluster_.UseTrainer(script);
    tokens_ = cluster_.MakeTokens();
    const int nodes = kTrainingNodes + spares;
    for (int node = 0; node < nodes; ++node) cluster_.StartWorker(node);
    job_ = Start("healed");
    EXPECT_TRUE(cluster_.WaitForStep(job_, 50)) << cluster_.DaemonLogs();
    EXPECT_TRUE(Eventually([&] { return SparesWait(); })) << cluster_.DaemonLogs();
  }

  int64_t Start(const std::string& name) {
    return cluster_.Submit(
        cluster_.WriteJob(name, TinyJob(name, tokens_, kTrainingNodes, 1'000'000)),
        {"--set", absl::StrCat("restart.spares=", spares_), "--set", "restart.max_restarts=1000"});
  }

  // Kills the program of a member. Returns false if the program does not exist.
  bool KillRank(int member) {
    const pid_t pid = cluster_.RankPid(job_, 1, member);
    return pid > 0 && kill(pid, SIGKILL) == 0;
  }

  // True if all standbys of the newest attempt have started.
  bool SparesWait() const {
    const v1::ListRanksResponse listed = cluster_.Ranks(job_);
    return std::ranges::count_if(listed.ranks(), [](const v1::RankStatus& rank) {
             return rank.standby() && rank.state() == v1::RANK_STATE_RUNNING;
           }) == spares_;
  }

  const v1::Heal& NewestHeal() {
    described_ = cluster_.Job(job_);
    static const v1::Heal kNone;
    const auto& heals = described_.attempts(0).heals();
    return heals.empty() ? kNone : *heals.rbegin();
  }

  // Waits until the gang has healed `count` times. Returns the seconds since `begin`.
  double WaitForHeal(int count, steady_clock::time_point begin) {
    EXPECT_TRUE(Eventually(
        [&] {
          const v1::Heal& heal = NewestHeal();
          return heal.generation() == count + 1 && heal.healed_ms() != 0;
        },
        Seconds(60)))
        << described_.DebugString() << cluster_.DaemonLogs();
    return std::chrono::duration<double>(steady_clock::now() - begin).count();
  }

  void ExpectItTrainsOn() {
    const v1::Job job = cluster_.Job(job_);
    const v1::Job stopped = cluster_.StopAfter(job_, job.progress().step() + 50);
    EXPECT_EQ(stopped.attempts_size(), 1) << stopped.DebugString();
    EXPECT_EQ(stopped.restarts(), 0);
    EXPECT_EQ(stopped.state(), v1::JOB_STATE_STOPPED);
  }

  MiniCluster cluster_;
  const int spares_;
  std::string tokens_;
  int64_t job_ = 0;
  v1::Job described_;
};

class SparesTest : public GangWithSpares {
 protected:
  SparesTest() : GangWithSpares("healing_trainer.py") {}
};

class SparesOfOurTrainerTest : public GangWithSpares {
 protected:
  explicit SparesOfOurTrainerTest(int spares = 1) : GangWithSpares("", spares) {}

  // Checks that no loss of the job is missing and that each equals the loss of an undisturbed run,
  // bit for bit. If the first rank is killed before it reports a step, the rank that replaces it
  // reports the step.
  void ExpectLossesOfAnUndisturbedRun() {
    const std::map<int64_t, double> losses = cluster_.Series(job_, "loss");
    ASSERT_FALSE(losses.empty());
    const int64_t last = losses.rbegin()->first;
    const int64_t undisturbed = Start("undisturbed");
    ASSERT_TRUE(cluster_.WaitForStep(undisturbed, last, Seconds(240))) << cluster_.DaemonLogs();
    cluster_.StopAfter(undisturbed, last);
    std::map<int64_t, double> expected = cluster_.Series(undisturbed, "loss");
    expected.erase(expected.upper_bound(last), expected.end());
    EXPECT_EQ(losses, expected);
  }
};

TEST_F(SparesOfOurTrainerTest, AKilledRankCostsNoAttemptAndNotABitOfTheLoss) {
  const steady_clock::time_point killed = steady_clock::now();
  ASSERT_TRUE(KillRank(2));
  const double healed = WaitForHeal(1, killed);
  RecordProperty("healed_after_seconds", absl::StrCat(healed));
  EXPECT_LE(NewestHeal().lost_steps(), kMostLostSteps);
  ExpectItTrainsOn();
  ExpectLossesOfAnUndisturbedRun();
}

TEST_F(SparesOfOurTrainerTest, TheFirstRankTakesItsMetricsAlong) {
  ASSERT_TRUE(KillRank(0));
  WaitForHeal(1, steady_clock::now());
  ExpectItTrainsOn();
  ExpectLossesOfAnUndisturbedRun();
}

// Kills ranks one after the other. An attempt can heal once per spare node. The next kill restarts
// the job from a checkpoint, with all spare nodes available again. TRAINYARD_HEALS is the number of
// kills that are healed.
class ManyHealsTest : public SparesOfOurTrainerTest {
 protected:
  ManyHealsTest() : SparesOfOurTrainerTest(3) {}

  const v1::Attempt& NewestAttempt() {
    described_ = cluster_.Job(job_);
    return *described_.attempts().rbegin();
  }

  // Kills the rank at one of the places; each turn chooses a different place.
  void KillAPlace(int turn) {
    const v1::ListRanksResponse listed = cluster_.Ranks(job_);
    for (const v1::RankStatus& rank : listed.ranks()) {
      if (!rank.has_place() || rank.place() != turn % kTrainingNodes) continue;
      const pid_t pid = cluster_.RankPid(job_, listed.attempt(), rank.rank());
      ASSERT_GT(pid, 0);
      ASSERT_EQ(kill(pid, SIGKILL), 0);
      return;
    }
    FAIL() << "nobody holds the place " << turn % kTrainingNodes;
  }

  // Waits until the gang trains again, either healed or in the next attempt.
  void WaitForSteps() {
    const int64_t step = cluster_.Job(job_).progress().step();
    ASSERT_TRUE(cluster_.WaitForStep(job_, step + 20)) << cluster_.DaemonLogs();
  }

  // Kills a rank. Returns the seconds until every rank has completed its next step.
  double HealOnce(int turn) {
    const int heals = NewestAttempt().heals_size();
    const int64_t killed_ms = absl::ToUnixMillis(absl::Now());
    KillAPlace(turn);
    EXPECT_TRUE(Eventually([&] {
      const v1::Attempt& attempt = NewestAttempt();
      return attempt.heals_size() == heals + 1 && attempt.heals(heals).healed_ms() != 0;
    })) << described_.DebugString()
        << cluster_.DaemonLogs();
    if (HasFailure()) return 0;
    EXPECT_LE(NewestAttempt().heals(heals).lost_steps(), kMostLostSteps);
    return static_cast<double>(NewestAttempt().heals(heals).healed_ms() - killed_ms) / 1e3;
  }

  void RestartFromACheckpoint(int turn) {
    const int attempts = cluster_.Job(job_).attempts_size();
    KillAPlace(turn);
    ASSERT_TRUE(Eventually([&] {
      described_ = cluster_.Job(job_);
      return described_.attempts_size() > attempts && SparesWait();
    })) << described_.DebugString()
        << cluster_.DaemonLogs();
  }
};

TEST_F(ManyHealsTest, AKillCostsSecondsAndNotABitOfTheLoss) {
  const auto heals = static_cast<int>(EnvironmentNumber("TRAINYARD_HEALS", 4));
  std::vector<double> seconds;
  int turn = 0;
  for (; std::ssize(seconds) < heals; ++turn) {
    WaitForSteps();
    if (NewestAttempt().heals_size() < spares_) {
      seconds.push_back(HealOnce(turn));
    } else {
      RestartFromACheckpoint(turn);
    }
    if (HasFailure()) return;
  }
  std::ranges::sort(seconds);
  std::cout << heals << " heals: median " << seconds[seconds.size() / 2] << " s, "
            << seconds.front() << " to " << seconds.back() << " s\n";
  EXPECT_LE(seconds[seconds.size() / 2], 5) << "killed rank to the next step of every rank";
  WaitForSteps();
  cluster_.StopAfter(job_, cluster_.Job(job_).progress().step() + 20);
  ExpectLossesOfAnUndisturbedRun();
}

TEST_F(SparesTest, AKilledRankIsReplacedInPlace) {
  std::set<pid_t> before;
  for (int rank : {0, 1, 3}) before.insert(cluster_.RankPid(job_, 1, rank));
  const steady_clock::time_point killed = steady_clock::now();
  ASSERT_TRUE(KillRank(2));
  const double healed = WaitForHeal(1, killed);
  RecordProperty("healed_after_seconds", absl::StrCat(healed));
  EXPECT_LE(healed, 5) << "killed rank to the next step of every rank";
  EXPECT_EQ(NewestHeal().seats(0).place(), 2);
  EXPECT_EQ(NewestHeal().seats(0).member(), 4);
  EXPECT_LE(NewestHeal().lost_steps(), 1);
  std::set<pid_t> after;
  for (int rank : {0, 1, 3}) after.insert(cluster_.RankPid(job_, 1, rank));
  EXPECT_EQ(before, after) << "the ranks that live go on";
  EXPECT_THAT(cluster_.Cli({"describe", "healed"}).output, HasSubstr("is healing in place"));
  EXPECT_THAT(cluster_.Cli({"why", "healed"}).output, HasSubstr("0 of 1 spare node left"));
  ExpectItTrainsOn();
}

TEST_F(SparesTest, TheFirstRankIsReplacedInPlaceAndItsMetricsGoOn) {
  ASSERT_TRUE(KillRank(0));
  WaitForHeal(1, steady_clock::now());
  ExpectItTrainsOn();
}

// Stops the worker, its shims and its ranks (SIGSTOP), so that the machine appears to be lost. When
// the processes continue, the ranks must be ended.
TEST_F(SparesTest, ANodeThatIsLostIsReplacedAndEndedWhenItComesBack) {
  cluster_.worker(1).Signal(SIGSTOP);
  ASSERT_TRUE(KillRank(1));
  const double healed = WaitForHeal(1, steady_clock::now());
  RecordProperty("healed_after_seconds", absl::StrCat(healed));
  EXPECT_LE(healed, 20);
  EXPECT_EQ(NewestHeal().verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
  cluster_.worker(1).Signal(SIGCONT);
  EXPECT_TRUE(Eventually([&] {
    const v1::Node node = cluster_.Nodes()["node1"];
    return node.state() == v1::NODE_STATE_READY && node.slot_uses(0).job_id() == 0;
  })) << "its slot is free for others";
  ExpectItTrainsOn();
}

TEST_F(SparesTest, AControllerThatIsKilledMeanwhileHealsTheGang) {
  cluster_.KillController();
  ASSERT_TRUE(KillRank(3));
  cluster_.StartController();
  WaitForHeal(1, steady_clock::now());
  ExpectItTrainsOn();
}

TEST_F(SparesTest, WithoutASpareTheNextLossRestartsTheJob) {
  ASSERT_TRUE(KillRank(2));
  WaitForHeal(1, steady_clock::now());
  ASSERT_TRUE(KillRank(3));
  EXPECT_TRUE(Eventually([&] { return cluster_.Job(job_).attempts_size() == 2; }, Seconds(30)))
      << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.Job(job_).restarts(), 1);
}

}  // namespace
}  // namespace trainyard::test
