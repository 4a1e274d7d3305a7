#include "worker/process/rank_group.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "proto/support/durable_file.h"
#include "tests/worker/process/rank_fixture.h"
#include "worker/process/process_table.h"
#include "worker/process/rank_mark.h"

namespace trainyard::worker {
namespace {

using testing::SizeIs;

// Finds this process's control groups from two files of /proc. The test provides the contents.
class OwnGroupTest : public testing::Test {
 protected:
  std::string Own(const std::string& membership, const std::string& mounts) {
    EXPECT_TRUE(WriteFileAtomically(directory_.File("cgroup"), membership).ok());
    EXPECT_TRUE(WriteFileAtomically(directory_.File("mountinfo"), mounts).ok());
    return OwnGroup(directory_.File("cgroup"), directory_.File("mountinfo"));
  }

  TemporaryDirectory directory_;
};

TEST_F(OwnGroupTest, IsFoundOnEveryKindOfMachine) {
  const std::string unified =
      "25 1 8:1 / / rw - ext4 /dev/sda rw\n"
      "33 25 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(Own("0::/system.slice/trainyard-worker.service\n", unified),
            "/sys/fs/cgroup/system.slice/trainyard-worker.service");
  EXPECT_EQ(Own("0::/\n", unified), "/sys/fs/cgroup");
  // The machine has cgroups of both versions, 1 and 2.
  EXPECT_EQ(
      Own("4:memory:/a\n0::/b\n", "31 25 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"),
      "/sys/fs/cgroup/unified/b");
  // The container sees only its own part of the cgroup tree, but /proc shows paths of the host.
  EXPECT_EQ(Own("0::/docker/77\n", "31 25 0:27 /docker/77 /sys/fs/cgroup ro - cgroup2 cgroup ro\n"),
            "/sys/fs/cgroup");
}

TEST_F(OwnGroupTest, IsEmptyWithoutVersionTwo) {
  EXPECT_EQ(Own("4:memory:/a\n", "31 25 0:27 / /sys/fs/cgroup/unified rw - cgroup2 x rw\n"), "");
  EXPECT_EQ(Own("0::/b\n", "31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup x rw\n"), "");
  EXPECT_EQ(Own("", ""), "");
  EXPECT_EQ(OwnGroup(directory_.File("none"), directory_.File("none")), "");
}

// Needs a kernel with cgroup version 2, and permission to create cgroups.
class RankGroupTest : public RankTest {
 protected:
  void SetUp() override {
    RankTest::SetUp();
    if (!CanMakeRankGroups()) GTEST_SKIP() << "this user may not make control groups here";
  }
  // Starts a rank that leaves a process behind. The process has no mark, session or parent of the
  // rank. Returns the pid of the process.
  pid_t LaunchRunaway(const std::string& then) {
    const std::string runaway = "(env -i setsid /bin/sh -c 'sleep 1000 & echo $$ > word; wait' &)";
    EXPECT_TRUE(LaunchShell(runaway + " ; " + then).ok());
    int pid = 0;
    EXPECT_TRUE(absl::SimpleAtoi(AwaitWord(), &pid));
    return pid;
  }
  // True if a cgroup of this test's rank exists.
  bool HasGroup() const {
    const std::string own = std::filesystem::path(dir()).filename().string();
    for (const auto& entry : std::filesystem::directory_iterator(OwnGroup())) {
      if (entry.path().filename().string().ends_with(own)) return true;
    }
    return false;
  }
  void KillShim() {
    const pid_t shim = Shim().shim.pid;
    ASSERT_EQ(kill(shim, SIGKILL), 0);
    ASSERT_TRUE(AwaitGone(shim));
  }
};

TEST_F(RankGroupTest, FindsAndKillsWhatLeftNoOtherTrace) {
  LaunchRunaway("exec sleep 1000");
  KillShim();
  const pid_t rank = Shim().rank.pid;
  ASSERT_EQ(kill(rank, SIGKILL), 0);
  ASSERT_TRUE(AwaitGone(rank));
  const std::vector<MarkedProcess> found = FindMarked(place().mark);
  ASSERT_THAT(found, SizeIs(2)) << "the shell and its sleep";
  EXPECT_TRUE(ReadRankState(place())->processes_remain) << "the slot is not free";
  EXPECT_GT(KillMarked(place().mark), 0);
  for (const MarkedProcess& process : found) EXPECT_TRUE(AwaitGone(process.stat.pid));
  EXPECT_FALSE(ReadRankState(place())->processes_remain);
  EXPECT_TRUE(HasGroup());
  RemoveEmptyRankGroups();
  EXPECT_FALSE(HasGroup());
}

TEST_F(RankGroupTest, IsGoneWithItsRank) {
  ASSERT_TRUE(LaunchShell("echo up > word; sleep 1000").ok());
  ASSERT_EQ(AwaitWord(), "up");
  EXPECT_TRUE(HasGroup());
  ASSERT_TRUE(SignalRank(place(), RankSignal::kKill).ok());
  AwaitEnd();
  EXPECT_FALSE(HasGroup());
}

TEST_F(RankGroupTest, CountsThreadsAtAnyDepth) {
  EXPECT_EQ(ThreadsInGroup(place().mark), 0);
  ASSERT_TRUE(LaunchShell("sleep 1000 & sleep 1000 & echo up > word; sleep 1000").ok());
  ASSERT_EQ(AwaitWord(), "up");
  EXPECT_GE(ThreadsInGroup(place().mark), 3);
}

TEST_F(RankGroupTest, AMarkIsAnyText) {
  const std::string mark = absl::StrCat("a/b%c\n%2F", getpid());
  ASSERT_TRUE(LaunchShell("echo up > word; exec sleep 1000").ok());
  ASSERT_EQ(AwaitWord(), "up");
  ASSERT_EQ(JoinRankGroup(mark, Shim().rank.pid), absl::OkStatus());
  std::vector<std::string> marks;
  for (const GroupedProcess& process : FindGrouped()) {
    if (process.pid == Shim().rank.pid) marks.push_back(process.mark);
  }
  EXPECT_THAT(marks, testing::ElementsAre(mark));
  KillRankGroup(mark);
  EXPECT_EQ(AwaitEnd().exit.signal, SIGKILL);
  RemoveRankGroup(mark);
  for (const GroupedProcess& process : FindGrouped()) EXPECT_NE(process.mark, mark);
}

}  // namespace
}  // namespace trainyard::worker
