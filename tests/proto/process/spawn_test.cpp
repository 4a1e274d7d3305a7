#include "proto/process/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/files/unique_fd.h"

namespace trainyard {
namespace {

using Texts = std::vector<std::string>;

// Runs a shell command and returns its standard output.
std::string OutputOf(const std::string& script, SpawnOptions options = {}) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return "no pipe";
  const UniqueFd input(ends[0]);
  UniqueFd output(ends[1]);
  options.command = {"/bin/sh", "-c", script};
  options.fds.push_back({.number = STDOUT_FILENO, .source = output.get()});
  pid_t pid = 0;
  if (const int error = Spawn(options, pid); error != 0) return "error " + std::to_string(error);
  output.Reset();
  std::string text;
  char byte = 0;
  while (read(input.get(), &byte, 1) == 1) text += byte;
  EXPECT_EQ(AwaitExit(pid), 0);
  return text;
}

TEST(SpawnTest, TheChildInheritsTheEnvironmentOrGetsItsOwn) {
  setenv("TRAINYARD_SPAWN_TEST", "mine", 1);
  const std::string print = "echo \"$TRAINYARD_SPAWN_TEST\"";
  EXPECT_EQ(OutputOf(print), "mine\n");
  EXPECT_EQ(OutputOf(print, {.environment = Texts{"TRAINYARD_SPAWN_TEST=other"}}), "other\n");
  EXPECT_EQ(OutputOf(print, {.environment = Texts{}}), "\n");
}

TEST(SpawnTest, AProgramWithoutAPathIsFoundInPath) {
  pid_t pid = 0;
  ASSERT_EQ(Spawn({.command = {"true"}}, pid), 0);
  EXPECT_EQ(AwaitExit(pid), 0);
}

TEST(SpawnTest, AFailedStartReturnsItsError) {
  pid_t pid = 0;
  EXPECT_EQ(Spawn({.command = {"/nowhere/program"}}, pid), ENOENT);
  EXPECT_EQ(Spawn({.command = {"/etc/passwd"}}, pid), EACCES);
}

TEST(SpawnTest, OtherDescriptorsAreClosedOnRequest) {
  // Opens the descriptor without O_CLOEXEC, so that the child inherits it.
  const UniqueFd open_fd(fcntl(STDOUT_FILENO, F_DUPFD, 20));
  ASSERT_TRUE(open_fd.valid());
  const std::string look =
      "[ -e /proc/self/fd/" + std::to_string(open_fd.get()) + " ] && echo open || echo closed";
  EXPECT_EQ(OutputOf(look), "open\n");
  EXPECT_EQ(OutputOf(look, {.close_other_fds = true}), "closed\n");
}

TEST(SpawnTest, AListedDescriptorStaysOpen) {
  const UniqueFd null_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::string look = "readlink /proc/self/fd/0 /proc/self/fd/30";
  EXPECT_EQ(OutputOf(look, {.fds = {{.number = STDIN_FILENO, .source = kNullDevice},
                                    {.number = 30, .source = null_fd.get()}},
                            .close_other_fds = true}),
            "/dev/null\n/dev/null\n");
}

TEST(SpawnTest, SignalsAreResetOnRequest) {
  const auto before = signal(SIGUSR1, SIG_IGN);
  const std::string raise = "kill -USR1 $$; echo alive";
  EXPECT_EQ(OutputOf(raise), "alive\n");
  pid_t pid = 0;
  ASSERT_EQ(Spawn({.command = {"/bin/sh", "-c", raise}, .reset_signals = true}, pid), 0);
  const int status = AwaitExit(pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1) << status;
  signal(SIGUSR1, before);
}

TEST(SpawnTest, ANewGroupHasTheChildAsItsLeader) {
  pid_t pid = 0;
  ASSERT_EQ(Spawn({.command = {"/bin/sleep", "60"}, .new_group = true}, pid), 0);
  EXPECT_EQ(getpgid(pid), pid);
  EXPECT_EQ(kill(-pid, SIGKILL), 0);
  EXPECT_TRUE(WIFSIGNALED(AwaitExit(pid)));
}

TEST(SpawnTest, AProcessThatIsNoChildCannotBeAwaited) {
  EXPECT_EQ(AwaitExit(1), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace trainyard
