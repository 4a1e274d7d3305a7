// Recovery in place with real processes: a rank or a node is lost, and a spare node takes its place
// in the same attempt. The trainer is ours, or, where only the daemons matter, healing_trainer.py,
// which follows the contract of worker/README.md.
#include <signal.h>

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr int kTrainingNodes = 4;

// Four ranks on a node each, and one spare node.
class GangWithSpare : public testing::Test {
 protected:
  // `script` takes the place of trainyard-trainer unless it is empty.
  explicit GangWithSpare(const std::string& script) : cluster_(0) {
    if (!script.empty()) cluster_.UseTrainer(script);
    tokens_ = cluster_.MakeTokens();
    for (int node = 0; node <= kTrainingNodes; ++node) cluster_.StartWorker(node);
    EXPECT_TRUE(Eventually([&] { return cluster_.Nodes().size() == kTrainingNodes + 1; }))
        << cluster_.DaemonLogs();
    job_ = Start("healed");
    EXPECT_TRUE(cluster_.WaitForStep(job_, 50)) << cluster_.DaemonLogs();
    EXPECT_TRUE(Eventually([&] { return SpareWaits(); })) << cluster_.DaemonLogs();
  }

  int64_t Start(const std::string& name) {
    return cluster_.Submit(
        cluster_.WriteJob(name, TinyJob(name, tokens_, kTrainingNodes, 1'000'000)),
        {"--set", "restart.spares=1"});
  }

  // True once the rank's program was there to be killed.
  bool KillRank(int member) {
    const pid_t pid = cluster_.RankPid(job_, 1, member);
    return pid > 0 && kill(pid, SIGKILL) == 0;
  }

  bool SpareWaits() const {
    const v1::ListRanksResponse listed = cluster_.Ranks(job_);
    for (const v1::RankStatus& rank : listed.ranks()) {
      if (rank.standby()) return rank.state() == v1::RANK_STATE_RUNNING;
    }
    return false;
  }

  const v1::Heal& NewestHeal() {
    described_ = cluster_.Job(job_);
    static const v1::Heal kNone;
    const auto& heals = described_.attempts(0).heals();
    return heals.empty() ? kNone : *heals.rbegin();
  }

  // Waits until the gang has healed for the `count`th time; seconds since `begin`.
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
  std::string tokens_;
  int64_t job_ = 0;
  v1::Job described_;
};

class SparesTest : public GangWithSpare {
 protected:
  SparesTest() : GangWithSpare("healing_trainer.py") {}
};

class SparesOfOurTrainerTest : public GangWithSpare {
 protected:
  SparesOfOurTrainerTest() : GangWithSpare("") {}

  // Each loss of the job is there, and equals that of a run that nobody disturbs bit for bit.
  void ExpectLossesOfAnUndisturbedRun() {
    const std::map<int64_t, double> losses = cluster_.Series(job_, "loss");
    ASSERT_FALSE(losses.empty());
    const int64_t last = losses.rbegin()->first;
    EXPECT_EQ(static_cast<int64_t>(losses.size()), last) << "every step is there";
    const int64_t undisturbed = Start("undisturbed");
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
  EXPECT_LE(NewestHeal().lost_steps(), 1);
  ExpectItTrainsOn();
  ExpectLossesOfAnUndisturbedRun();
}

TEST_F(SparesOfOurTrainerTest, TheFirstRankTakesItsMetricsAlong) {
  ASSERT_TRUE(KillRank(0));
  WaitForHeal(1, steady_clock::now());
  ExpectItTrainsOn();
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
  EXPECT_THAT(cluster_.Cli({"describe", "healed"}).output, HasSubstr("goes on in place"));
  EXPECT_THAT(cluster_.Cli({"why", "healed"}).output, HasSubstr("0 of 1 spare node left"));
  ExpectItTrainsOn();
}

TEST_F(SparesTest, TheFirstRankIsReplacedInPlaceAndItsMetricsGoOn) {
  ASSERT_TRUE(KillRank(0));
  WaitForHeal(1, steady_clock::now());
  ExpectItTrainsOn();
}

// The worker, its shims and ranks stop: the machine is gone, as far as anybody can tell. What comes
// back is ended.
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
