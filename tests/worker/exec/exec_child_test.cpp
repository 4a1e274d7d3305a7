#include "worker/exec/exec_child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>

namespace trainyard::worker {
namespace {

using testing::HasSubstr;

RankCommand ShellCommand(const std::string& script) {
  RankCommand command;
  command.argv = {"sh", "-c", script};
  command.environment = {{"PATH", "/usr/bin:/bin"}, {"COLOR", "green"}};
  command.working_directory = "/tmp";
  return command;
}

// Reads until the end, or until the text contains `part`. Stops after 10 s without output.
std::string ReadUntil(int fd, const std::string& part) {
  std::string text;
  std::array<char, 4096> buffer;
  pollfd readable = {fd, POLLIN, 0};
  while (text.find(part) == std::string::npos && poll(&readable, 1, 10'000) > 0) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

int StatusOf(const ExecChild& child) {
  int status = 0;
  EXPECT_EQ(waitpid(child.pid(), &status, 0), child.pid());
  return status;
}

TEST(ExecChildTest, ACommandOnPipesReadsInputAndWritesTwoOutputs) {
  auto child = ExecChild::Fork(ShellCommand("pwd; echo $COLOR >&2; cat; exit 4"), std::nullopt);
  ASSERT_TRUE(child.ok()) << child.status();
  ASSERT_EQ(child->Release(), std::nullopt);
  ASSERT_EQ(write(child->input(), "input", 5), 5);
  child->CloseInput();
  EXPECT_EQ(ReadUntil(child->output(), "nothing"), "/tmp\ninput");
  EXPECT_EQ(ReadUntil(child->error(), "nothing"), "green\n");
  EXPECT_EQ(WEXITSTATUS(StatusOf(*child)), 4);
}

TEST(ExecChildTest, ATerminalHasItsSizeAndControlsTheCommand) {
  auto child = ExecChild::Fork(
      ShellCommand("trap 'stty size' WINCH; stty size; tty; echo ready; read x; read x; exit 5"),
      TerminalSides{33, 44});
  ASSERT_TRUE(child.ok()) << child.status();
  ASSERT_EQ(child->Release(), std::nullopt);
  const std::string text = ReadUntil(child->output(), "ready");
  EXPECT_THAT(text, HasSubstr("33 44\r\n/dev/pts/"));
  child->Resize({55, 66});
  ASSERT_EQ(write(child->input(), "x\n", 2), 2);
  EXPECT_THAT(ReadUntil(child->output(), "55 66"), HasSubstr("55 66"));
  child->CloseInput();
  ASSERT_EQ(write(child->input(), "\x03", 1), 1) << "the terminal stays open";
  ReadUntil(child->output(), "nothing");
  EXPECT_EQ(WTERMSIG(StatusOf(*child)), SIGINT);
}

TEST(ExecChildTest, ACommandThatCannotBeExecutedHasAReason) {
  RankCommand command = ShellCommand("");
  command.argv = {"no-such-program"};
  auto child = ExecChild::Fork(command, std::nullopt);
  ASSERT_TRUE(child.ok()) << child.status();
  const auto failure = child->Release();
  ASSERT_NE(failure, std::nullopt);
  EXPECT_THAT(failure->cause, HasSubstr("no-such-program"));
  StatusOf(*child);
}

TEST(ExecChildTest, TerminateEndsAnInteractiveShell) {
  RankCommand command = ShellCommand("");
  command.argv = {"sh", "-i"};
  auto child = ExecChild::Fork(command, TerminalSides{24, 80});
  ASSERT_TRUE(child.ok()) << child.status();
  ASSERT_EQ(child->Release(), std::nullopt);
  ASSERT_EQ(write(child->input(), "echo re''ady\n", 13), 13);
  ASSERT_THAT(ReadUntil(child->output(), "ready"), HasSubstr("ready"));
  child->Terminate();
  const int status = StatusOf(*child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

}  // namespace
}  // namespace trainyard::worker
