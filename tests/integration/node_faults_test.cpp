// Tests faults of one node. Jobs that a fault affects move to other nodes, other jobs on the node
// are not affected, and the node recovers automatically.
#include <signal.h>

#include <filesystem>
#include <optional>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"
#include "tests/integration/small_disk.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kSlots = 2;

// Two nodes: node0 is healthy, and node1 has a separate small disk.
class NodeFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.mounted()) GTEST_SKIP() << "needs root, to mount a small disk";
  }
  void TearDown() override {
    if (!disk_.mounted() || !has_worker_) return;
    cluster_.worker(1).Signal(SIGTERM);
    cluster_.worker(1).Wait(Seconds(15));
  }

  void StartSmallNode(const std::vector<std::string>& flags = {}) {
    has_worker_ = true;
    cluster_.StartWorker(1, flags);
  }
  // Nodes by name.
  std::map<std::string, v1::Node> Nodes() const { return cluster_.Nodes(); }
  v1::Node SmallNode() const { return Nodes()["node1"]; }

  int64_t SubmitShell(const std::string& name, const std::string& script) {
    return cluster_.Submit(cluster_.WriteJob(
        name, absl::StrCat("name: ", name, "\nresources: {device: cpu}\nrestart: {backoff: 0}\n",
                           "command: [/bin/sh, -c, '", script, "']\n")));
  }
  // Returns a script that runs until Go is called.
  std::string UntilGo() const {
    return absl::StrCat("until test -e ", cluster_.directory(), "/go; do sleep 0.05; done");
  }
  void Go() { WriteFile(cluster_.directory() + "/go", ""); }
  void Cordon(const std::string& node) {
    EXPECT_EQ(cluster_.Cli({"node", "cordon", node}).exit_code, 0);
  }
  // Checks that `neighbour`, a job on the faulty job's node, continues, and that new jobs start on
  // this node.
  void ExpectNeighboursUnharmed(int64_t neighbour) {
    std::vector<int64_t> jobs = {neighbour};
    for (int i = 0; i < 3; ++i) jobs.push_back(SubmitShell(absl::StrCat("after-", i), "exit 0"));
    Go();
    ExpectAllSucceed(jobs);
    for (const int64_t id : jobs) EXPECT_EQ(cluster_.Job(id).attempts_size(), 1);
  }
  // Checks that every job succeeds without using up its restart budget.
  void ExpectAllSucceed(const std::vector<int64_t>& jobs) {
    for (const int64_t id : jobs) {
      const v1::Job job = cluster_.WaitForEnd(id);
      EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
      EXPECT_EQ(job.restarts(), 0) << job.DebugString();
    }
  }

  MiniCluster cluster_{1, kSlots};
  const SmallDisk disk_{cluster_.directory() + "/worker1", 24 << 20};
  bool has_worker_ = false;
};

TEST_F(NodeFaultsTest, ANodeThatCannotWriteFailsNoJobAndSaysWhy) {
  StartSmallNode({"--free-space-floor", "0"});
  disk_.Fill();
  std::vector<int64_t> jobs;
  // More jobs than node0 has slots, so that node1 is tried.
  for (int i = 0; i < 2 * kSlots; ++i) {
    jobs.push_back(SubmitShell(absl::StrCat("job-", i), UntilGo()));
  }
  EXPECT_TRUE(Eventually([&] { return SmallNode().health().failed_starts() >= 1; }, Seconds(10)))
      << cluster_.DaemonLogs();
  Go();
  ExpectAllSucceed(jobs);
  const v1::Node node = SmallNode();
  EXPECT_EQ(node.state(), v1::NODE_STATE_READY);
  EXPECT_THAT(node.health().reason(), HasSubstr("No space left on device"));
  EXPECT_GE(node.health().failed_starts(), 1);
  EXPECT_THAT(cluster_.Cli({"nodes"}).output, HasSubstr("unhealthy"));
  EXPECT_THAT(cluster_.Cli({"node", "describe", "node1"}).output,
              HasSubstr("No space left on device"));
}

TEST_F(NodeFaultsTest, ANodeBelowItsFloorOfFreeSpaceTakesNoRanksUntilThereIsSpace) {
  StartSmallNode();
  disk_.Fill(200 << 10);
  ASSERT_TRUE(Eventually([&] { return SmallNode().has_health(); }, Seconds(10)));
  std::vector<int64_t> jobs;
  for (int i = 0; i <= kSlots; ++i) jobs.push_back(SubmitShell(absl::StrCat("job-", i), UntilGo()));
  // The head of the queue waits for node0. The answer also mentions the disk of node1.
  EXPECT_THAT(cluster_.Cli({"why", std::to_string(jobs[kSlots])}).output,
              AllOf(HasSubstr("node1 is unhealthy"), HasSubstr("free disk space")));
  Go();
  ExpectAllSucceed(jobs);
  for (const int64_t id : jobs) EXPECT_EQ(cluster_.Job(id).attempts_size(), 1);
  disk_.Empty();
  EXPECT_TRUE(Eventually([&] { return !SmallNode().has_health(); }, Seconds(10)));
}

// The rank keeps a removed file open. Until the rank has ended, the disk has no free space for the
// new node's id.
TEST_F(NodeFaultsTest, ALostDataDirectoryOnADiskThatItsRankFillsIsMadeAnew) {
  const std::vector<std::string> flags = {"--free-space-floor", "0", "--run-dir-limit",
                                          absl::StrCat(1 << 30)};
  StartSmallNode(flags);
  Cordon("node0");
  const int64_t id =
      SubmitShell("filler", "exec 3> big; head -c 100000000 /dev/zero >&3; exec sleep 1000");
  ASSERT_TRUE(Eventually([&] { return disk_.FreeBytes() == 0; }, Seconds(20)));
  cluster_.KillWorker(1);
  for (const auto& entry : std::filesystem::directory_iterator(disk_.directory())) {
    std::filesystem::remove_all(entry.path());
  }
  cluster_.StartWorker(1, flags);
  EXPECT_TRUE(Eventually([&] { return cluster_.Job(id).attempts_size() == 2; }, Seconds(20)))
      << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.Cli({"kill", "-y", std::to_string(id)}).exit_code, 0);
  EXPECT_EQ(cluster_.WaitForEnd(id).state(), v1::JOB_STATE_STOPPED);
}

// A node that has just left still counts as ready until a heartbeat is missed. A job placed there
// would wait until its lease ends, and would block the queue meanwhile.
TEST(NodeLeavesTest, ANodeThatHasJustLeftGetsNoJob) {
  MiniCluster cluster(2);
  cluster.worker(1).Signal(SIGTERM);
  EXPECT_TRUE(cluster.worker(1).Wait(Seconds(10)).has_value());
  std::vector<int64_t> jobs;
  for (const char* name : {"one", "two", "three"}) {
    jobs.push_back(cluster.Submit(cluster.WriteJob(
        name, absl::StrCat("name: ", name, "\nresources: {device: cpu}\ncommand: [/bin/true]\n"))));
  }
  for (const int64_t id : jobs) {
    const v1::Job job = cluster.WaitForEnd(id, Seconds(20));
    EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
    EXPECT_EQ(job.attempts_size(), 1);
  }
}

// Garbage telemetry at 40 MB/s would fill the disk within seconds, because telemetry, unlike
// output, is never dropped.
TEST_F(NodeFaultsTest, AFloodOfTelemetryEndsItsOwnJobAndNoOther) {
  StartSmallNode();
  Cordon("node0");
  const int64_t neighbour = SubmitShell("neighbour", UntilGo());
  const int64_t flood = SubmitShell(
      "flood", "while :; do head -c 2000000 /dev/zero >> $TRAINYARD_TELEMETRY; sleep 0.05; done");
  const v1::Job ended = cluster_.WaitForEnd(flood, Seconds(30));
  EXPECT_EQ(ended.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(ended.attempts_size(), 1) << "it would do the same again";
  EXPECT_EQ(ended.verdict().cause(), v1::VERDICT_CAUSE_LIMIT_EXCEEDED);
  // Two limits are possible: the limit on the rate or, if the controller stores slowly, the limit
  // on the amount that waits to be stored.
  EXPECT_THAT(ended.verdict().summary(),
              AllOf(HasSubstr("of telemetry"), HasSubstr("--telemetry-")));
  ExpectNeighboursUnharmed(neighbour);
}

TEST_F(NodeFaultsTest, AFullRunDirectoryEndsItsOwnJobAndNoOther) {
  StartSmallNode();
  Cordon("node0");
  const int64_t neighbour = SubmitShell("neighbour", UntilGo());
  const int64_t hoarder = SubmitShell(
      "hoarder",
      "i=0; while :; do i=$((i+1)); head -c 500000 /dev/zero > $TRAINYARD_RUN_DIR/$i; sleep 0.05; "
      "done");
  const v1::Job ended = cluster_.WaitForEnd(hoarder, Seconds(30));
  EXPECT_EQ(ended.verdict().cause(), v1::VERDICT_CAUSE_LIMIT_EXCEEDED) << ended.DebugString();
  EXPECT_THAT(ended.verdict().summary(), HasSubstr("--run-dir-limit"));
  ExpectNeighboursUnharmed(neighbour);
}

// The job's limit applies to its ranks together and to files anywhere on the node: each rank alone
// uses less than the limit, and no rank writes into its own directory.
TEST_F(NodeFaultsTest, RanksOfAJobHaveItsLimitTogetherAlsoBesideTheirDirectories) {
  StartSmallNode({"--run-dir-limit", absl::StrCat(5 << 20)});
  Cordon("node0");
  const int64_t id = cluster_.Submit(cluster_.WriteJob(
      "pair",
      "name: pair\nresources: {device: cpu, slots_per_node: 2}\nrestart: {backoff: 0}\n"
      "command: [/bin/sh, -c, 'head -c 3000000 /dev/zero > ../beside-$RANK; exec sleep 1000']\n"));
  const v1::Job ended = cluster_.WaitForEnd(id, Seconds(30));
  EXPECT_EQ(ended.verdict().cause(), v1::VERDICT_CAUSE_LIMIT_EXCEEDED) << ended.DebugString();
  EXPECT_THAT(ended.verdict().summary(), HasSubstr("--run-dir-limit"));
  EXPECT_EQ(ended.attempts_size(), 1);
}

TEST_F(NodeFaultsTest, AFloodOfEmptyFilesEndsItsOwnJobAndNoOther) {
  StartSmallNode({"--run-dir-files-limit", "300"});
  Cordon("node0");
  const int64_t neighbour = SubmitShell("neighbour", UntilGo());
  const int64_t flood = SubmitShell(
      "flood", "i=0; while :; do i=$((i+1)); mkdir -p d$i; : > d$i/f; sleep 0.002; done");
  const v1::Job ended = cluster_.WaitForEnd(flood, Seconds(30));
  EXPECT_EQ(ended.verdict().cause(), v1::VERDICT_CAUSE_LIMIT_EXCEEDED) << ended.DebugString();
  EXPECT_THAT(ended.verdict().summary(), HasSubstr("--run-dir-files-limit"));
  ExpectNeighboursUnharmed(neighbour);
}

// A removed file uses space as long as a process has it open.
TEST_F(NodeFaultsTest, AFileWithoutANameCountsToo) {
  StartSmallNode({"--run-dir-limit", absl::StrCat(5 << 20)});
  Cordon("node0");
  const int64_t neighbour = SubmitShell("neighbour", UntilGo());
  const int64_t hoarder =
      SubmitShell("hoarder", "exec 3> big; rm big; head -c 8000000 /dev/zero >&3; exec sleep 1000");
  const v1::Job ended = cluster_.WaitForEnd(hoarder, Seconds(30));
  EXPECT_EQ(ended.verdict().cause(), v1::VERDICT_CAUSE_LIMIT_EXCEEDED) << ended.DebugString();
  EXPECT_THAT(ended.verdict().summary(), HasSubstr("--run-dir-limit"));
  ExpectNeighboursUnharmed(neighbour);
}

// The rank's process ends before the disk has free space again, so the process cannot write the
// records later.
TEST_F(NodeFaultsTest, ARankThatEndsOnAFullDiskLosesNoTelemetry) {
  StartSmallNode({"--free-space-floor", "0"});
  Cordon("node0");
  const std::string record = R"("{\"type\":\"metrics\",\"time_ms\":1,\"step\":$i,\"loss\":2}")";
  const int64_t id =
      SubmitShell("ends", absl::StrCat(UntilGo(), "; i=0; while test $i -lt 200; do i=$((i+1)); ",
                                       "echo ", record, " >> $TRAINYARD_TELEMETRY; done"));
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(id).state() == v1::JOB_STATE_RUNNING; }));
  disk_.Fill();
  Go();
  EXPECT_EQ(cluster_.WaitForEnd(id).state(), v1::JOB_STATE_SUCCEEDED);
  disk_.Empty();
  EXPECT_TRUE(Eventually([&] { return cluster_.Job(id).progress().step() == 200; }, Seconds(10)))
      << cluster_.Job(id).DebugString();
}

// Output is dropped, first of all the flooding job's. Some disk space is reserved for other jobs.
TEST_F(NodeFaultsTest, AFloodOfOutputHarmsNoNeighbour) {
  StartSmallNode();
  Cordon("node0");
  const int64_t neighbour = SubmitShell("neighbour", UntilGo());
  const int64_t flood =
      SubmitShell("flood", "for i in $(seq 60); do head -c 1000000 /dev/zero; sleep 0.03; done");
  const v1::Job ended = cluster_.WaitForEnd(flood, Seconds(30));
  EXPECT_EQ(ended.state(), v1::JOB_STATE_SUCCEEDED) << ended.DebugString();
  ExpectNeighboursUnharmed(neighbour);
}

// The flood leaves a full disk, and the next job starts before the worker checks the disk again.
// The neighbour occupies the node's other slot, so the flooding jobs run one after the other.
TEST_F(NodeFaultsTest, AStartRightBehindAFloodOfOutputFindsSpace) {
  StartSmallNode();
  Cordon("node0");
  const int64_t neighbour = SubmitShell("neighbour", UntilGo());
  std::vector<int64_t> floods;
  for (int i = 0; i < 6; ++i) {
    floods.push_back(SubmitShell(absl::StrCat("flood-", i), "head -c 30000000 /dev/zero || true"));
  }
  ExpectAllSucceed(floods);
  for (const int64_t id : floods) EXPECT_EQ(cluster_.Job(id).attempts_size(), 1);
  ExpectNeighboursUnharmed(neighbour);
}

}  // namespace
}  // namespace trainyard::test
