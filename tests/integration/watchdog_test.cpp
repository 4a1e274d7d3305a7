// Tests the watchdog with real processes. A stalled rank is detected, named and healed. A slow rank
// is named. A network failure causes no restart.
#include <signal.h>

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/environment_number.h"
#include "tests/integration/mini_cluster.h"
#include "tests/worker/rpc/stalling_proxy.h"

namespace trainyard::test {
namespace {

using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::HasSubstr;

// Time after which a rank has reported several steps, so that its progress counts as steady.
constexpr std::chrono::seconds kWarmUp{8};

// The time for which a process is stopped: TRAINYARD_AWAY_SECONDS or, by default, a time longer
// than the watchdog's limit.
std::chrono::seconds Away() {
  return std::chrono::seconds(EnvironmentNumber("TRAINYARD_AWAY_SECONDS", 20));
}

double SecondsSince(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

// A job of our trainer with one rank on each node. A step takes milliseconds, so the watchdog's
// limit is 15 s.
class WatchdogTest : public testing::Test {
 protected:
  explicit WatchdogTest(int nodes = 2) : cluster_(nodes) {}

  void Start(int ranks) {
    const std::string file =
        cluster_.WriteJob("watched", TinyJob("watched", cluster_.MakeTokens(), ranks, 1'000'000));
    job_ = cluster_.Submit(file);
    ASSERT_TRUE(cluster_.WaitForStep(job_, 50)) << cluster_.DaemonLogs();
    std::this_thread::sleep_for(kWarmUp);
  }

  // Checks that the first attempt continues to train for longer than the watchdog would need for a
  // wrong verdict.
  void ExpectUndisturbed() {
    std::this_thread::sleep_for(kWarmUp);
    const int64_t step = cluster_.Job(job_).progress().step();
    const v1::Job stopped = cluster_.StopAfter(job_, step + 50);
    EXPECT_EQ(stopped.attempts_size(), 1) << stopped.DebugString();
    EXPECT_EQ(stopped.state(), v1::JOB_STATE_STOPPED);
  }

  MiniCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(WatchdogTest, AFrozenRankIsFoundNamedAndHealed) {
  cluster_.StartWorker(2);
  cluster_.StartWorker(3);
  Start(4);
  const pid_t victim = cluster_.RankPid(job_, 1, 1);
  ASSERT_GT(victim, 0);
  const steady_clock::time_point frozen = steady_clock::now();
  kill(victim, SIGSTOP);
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(job_).attempts(0).has_verdict(); }, Seconds(60)))
      << cluster_.DaemonLogs();
  const double found = SecondsSince(frozen);
  RecordProperty("found_after_seconds", absl::StrCat(found));
  EXPECT_GE(found, 14) << "a report may be a second old";
  EXPECT_LE(found, 19) << "the limit, a report and a tick";

  ASSERT_TRUE(Eventually([&] {
    const v1::Job job = cluster_.Job(job_);
    return job.attempts_size() == 2 && job.state() == v1::JOB_STATE_RUNNING;
  })) << cluster_.DaemonLogs();
  const v1::Job job = cluster_.Job(job_);
  const v1::Verdict& verdict = job.attempts(0).verdict();
  EXPECT_EQ(job.attempts(0).stop_reason(), v1::STOP_REASON_STALLED);
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_STALLED);
  EXPECT_THAT(verdict.ranks(), ElementsAre(1)) << verdict.summary();
  EXPECT_THAT(verdict.summary(), HasSubstr("rank 1 has not reached "));
  EXPECT_THAT(verdict.stacks(), HasSubstr("(T)")) << "stopped by a signal";
  EXPECT_EQ(job.restarts(), 1);
  const int64_t step = job.progress().step();
  EXPECT_TRUE(cluster_.WaitForStep(job_, step + 50)) << "it trains on";
  const std::string told = cluster_.Cli({"describe", "watched"}).output;
  EXPECT_THAT(told, HasSubstr("the gang stalled: no step for"));
  EXPECT_EQ(cluster_.StopAfter(job_, step + 50).state(), v1::JOB_STATE_STOPPED);
}

class AwayTest : public WatchdogTest {
 protected:
  AwayTest() : WatchdogTest(1) {}
};

TEST_F(AwayTest, ANetworkThatIsAwayForLongerThanTheLimitRestartsNothing) {
  const std::string port = cluster_.address().substr(cluster_.address().rfind(':') + 1);
  worker::StallingProxy proxy(std::stoi(port));
  cluster_.StartWorker(1, {}, proxy.address());
  Start(2);
  proxy.Stall(true);
  std::this_thread::sleep_for(Away());
  proxy.Stall(false);
  ExpectUndisturbed();
}

TEST_F(WatchdogTest, AControllerThatIsAwayForLongerThanTheLimitRestartsNothing) {
  Start(2);
  cluster_.KillController();
  std::this_thread::sleep_for(Away());
  cluster_.StartController();
  ExpectUndisturbed();
}

// Eight ranks report their compute times. Rank 5 takes twice as long as the others.
TEST(StragglerTest, TheSlowOneOfEightIsNamed) {
  MiniCluster cluster(2, 4);
  const std::string program = absl::StrCat(cluster.directory(), "/train.py");
  WriteFile(program, R"(import json, os, time
rank = int(os.environ["RANK"])
compute = 0.2 if rank == 5 else 0.1
with open(os.environ["TRAINYARD_TELEMETRY"], "a") as out:
    def tell(**fields):
        print(json.dumps({"time_ms": int(time.time() * 1000), **fields}), file=out, flush=True)
    tell(type="phase", phase="train", step=0)
    for step in range(1, 10000):
        time.sleep(0.5)
        tell(type="rank", step=step, step_seconds=0.5, compute_seconds=compute,
             world_wait_seconds=0.4 - compute)
)");
  const int64_t job_id = cluster.Submit(cluster.WriteJob(
      "slow", absl::StrCat("name: slow\nresources: {nodes: 2, slots_per_node: 4, device: cpu}\n",
                           "command: [/usr/bin/python3, ", program, "]\n")));
  ASSERT_TRUE(Eventually([&] { return cluster.Described(job_id).alerts_size() > 0; }, Seconds(120)))
      << cluster.DaemonLogs();
  const v1::GetJobResponse described = cluster.Described(job_id);
  ASSERT_EQ(described.alerts_size(), 1);
  EXPECT_EQ(described.alerts(0).code(), "slow_rank");
  EXPECT_THAT(described.alerts(0).message(), HasSubstr("rank 5 on node1 computes for 0.2 s"));
  EXPECT_THAT(cluster.Cli({"why", "slow"}).output, HasSubstr("rank 5 computes"));
  const v1::ListRanksResponse ranks = cluster.Ranks(job_id);
  ASSERT_EQ(ranks.ranks_size(), 8);
  for (const v1::RankStatus& rank : ranks.ranks()) {
    EXPECT_NEAR(rank.slow_ratio(), rank.rank() == 5 ? 2 : 0, 1e-6) << rank.rank();
  }
  EXPECT_EQ(cluster.Job(job_id).attempts_size(), 1) << "it is left alone";
}

}  // namespace
}  // namespace trainyard::test
