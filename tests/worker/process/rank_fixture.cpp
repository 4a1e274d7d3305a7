#include "tests/worker/process/rank_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "proto/support/durable_file.h"
#include "worker/process/process_table.h"

namespace trainyard::worker {
namespace {

constexpr int kDeadlineMs = 10000;

bool AwaitReadable(int fd) {
  pollfd waiter = {fd, POLLIN, 0};
  return poll(&waiter, 1, kDeadlineMs) == 1;
}

}  // namespace

void RankTest::SetUp() {
  ASSERT_EQ(mkfifo(File("word").c_str(), 0600), 0);
  word_.Reset(open(File("word").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(word_.valid());
}

void RankTest::TearDown() {
  SignalRank(place(), RankSignal::kKill).IgnoreError();
  if (IsRunning(Shim().shim) && Shim().shim.pid != getpid()) AwaitGone(Shim().shim.pid);
}

RankCommand RankTest::Shell(const std::string& script) const {
  return {{"/bin/sh", "-c", script}, {{"PATH", "/usr/bin:/bin"}}, dir()};
}

absl::Status RankTest::LaunchShell(const std::string& script) {
  return launcher_.Launch(place(), Shell(script));
}

std::string RankTest::AwaitWord() {
  std::string word;
  for (char byte = 0; byte != '\n';) {
    if (!AwaitReadable(word_.get()) || read(word_.get(), &byte, 1) != 1) return "(no word)";
    if (byte != '\n') word += byte;
  }
  return word;
}

RankState RankTest::AwaitEnd() {
  const absl::StatusOr<UniqueFd> watch = OpenExitWatch(dir());
  if (watch.ok()) {
    EXPECT_TRUE(AwaitReadable(watch->get())) << "the rank did not end";
  }
  const absl::StatusOr<RankState> state = ReadRankState(place());
  EXPECT_TRUE(state.ok()) << state.status();
  return state.value_or(RankState());
}

bool RankTest::AwaitGone(pid_t pid) {
  const UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  return !fd.valid() || AwaitReadable(fd.get());
}

std::string RankTest::Output() const { return ReadSmallFile(File(kOutputFile)).value_or(""); }

ShimRecord RankTest::Shim() const { return ReadShimRecord(dir()).value_or(ShimRecord()); }

}  // namespace trainyard::worker
