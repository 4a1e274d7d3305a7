// Tests that a stalled process does not count as dead. The controller or a worker is stopped for 20
// s. That is longer than every keepalive, and longer than the time without heartbeats after which a
// node may be lost.
#include <signal.h>

#include <thread>

#include "gtest/gtest.h"
#include "tests/integration/chaos_job.h"

namespace trainyard::test {
namespace {

// A fixed time, because the freeze itself is tested: there is no condition to wait for.
constexpr std::chrono::seconds kFreeze{20};

class FrozenTest : public testing::Test {
 protected:
  static constexpr int kNodes = 2;

  void Freeze(const ChildProcess& process) {
    process.Signal(SIGSTOP);
    std::this_thread::sleep_for(kFreeze);
    process.Signal(SIGCONT);
  }

  // After the freeze, the job must continue in its first attempt, and all its data must arrive.
  void ExpectUndisturbed(ChaosJob& job) {
    const int64_t step = cluster_.Job(job.id()).progress().step();
    EXPECT_TRUE(cluster_.WaitForStep(job.id(), step + 50)) << cluster_.DaemonLogs();
    job.FinishInOneAttempt("a frozen process ends no attempt");
  }

  MiniCluster cluster_{kNodes};
};

TEST_F(FrozenTest, StalledControllerCostsNothing) {
  ChaosJob job(cluster_, "frozen-controller", kNodes);
  ASSERT_TRUE(cluster_.WaitForStep(job.id(), 20));
  Freeze(cluster_.controller());
  ExpectUndisturbed(job);
}

TEST_F(FrozenTest, StalledWorkerCostsNothing) {
  ChaosJob job(cluster_, "frozen-worker", kNodes);
  ASSERT_TRUE(cluster_.WaitForStep(job.id(), 20));
  // Node 1 sends no heartbeats, while rank 0 on node 0 makes progress. Lost contact alone must not
  // count as a failure.
  Freeze(cluster_.worker(1));
  ExpectUndisturbed(job);
}

}  // namespace
}  // namespace trainyard::test
