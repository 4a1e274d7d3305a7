// Tests the real program: pipes, signals, a shell, and the startup time.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <limits>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "proto/access/token_file.h"
#include "tests/cli/fake_server.h"
#include "tests/fakes/fake_token.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProgram[] = TRAINYARD_PROGRAM;

// Sets the token for every program that these tests start.
class TokenEnvironment final : public testing::Environment {
 public:
  void SetUp() override {
    setenv(kTokenFileVariable, WriteFakeToken(directory_.path()).c_str(), 1);
  }

 private:
  const TemporaryDirectory directory_;
};
const testing::Environment* const kTokenEnvironment =
    testing::AddGlobalTestEnvironment(new TokenEnvironment);

struct ShellResult {
  int exit_code = -1;
  std::string output;  // stdout and stderr.
};

ShellResult Shell(const std::string& script) {
  const std::string line = absl::StrCat("exec 2>&1\n", script);
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execlp("bash", "bash", "-c", line.c_str(), nullptr);
    _exit(126);
  }
  close(ends[1]);
  ShellResult result;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    result.output.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

TEST(ProgramTest, AReaderThatLeavesEndsItQuietly) {
  FakeServer server;
  v1::ListJobsResponse page;
  for (int i = 0; i < 500; ++i) page.add_jobs()->set_name(std::string(1000, 'a'));
  server.answers().pages.push_back(page);
  const ShellResult result =
      Shell(absl::StrCat(kProgram, " -s ", server.address(),
                         " ps -a -o csv | head -c 4; status=${PIPESTATUS[0]}; echo; echo $status"));
  // 141 (128 + SIGPIPE) is the exit status of a well-behaved filter whose reader has exited.
  EXPECT_EQ(result.output, "ID,N\n141\n");
}

TEST(ProgramTest, AFullDiskIsAnError) {
  const ShellResult result = Shell(absl::StrCat(kProgram, " schema > /dev/full"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "error: the output could not be written\n");
}

TEST(ProgramTest, CtrlCDetachesFromAFollowedJob) {
  FakeServer server;
  v1::Job job;
  job.set_id(17);
  job.set_state(v1::JOB_STATE_RUNNING);
  std::atomic<pid_t> pid{0};
  server.answers().watches.push_back({{job}, {}, true, [&pid] {
                                        while (pid == 0) usleep(1000);
                                        kill(pid, SIGINT);
                                      }});
  const pid_t child = fork();
  if (child == 0) {
    const int null_fd = open("/dev/null", O_WRONLY);
    dup2(null_fd, STDOUT_FILENO);
    dup2(null_fd, STDERR_FILENO);
    execl(kProgram, kProgram, "-s", server.address().c_str(), "wait", "-f", "17", nullptr);
    _exit(126);
  }
  pid = child;
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
}

// Returns the exit code of `server backup` if the controller's program exits with the given code.
// Ignores SIGCHLD, and exec does not reset that.
int BackupExitCode(int exit_code_of_controller) {
  const TemporaryDirectory directory;
  const std::string copy = directory.File("trainyard");
  std::filesystem::copy_file(kProgram, copy);
  const std::string controller = directory.File("trainyard-controller");
  WriteFile(controller, absl::StrCat("#!/bin/sh\nexit ", exit_code_of_controller, "\n"));
  std::filesystem::permissions(controller, std::filesystem::perms::owner_all);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGCHLD, SIG_IGN);
    execl(copy.c_str(), copy.c_str(), "server", "backup", "x", "--data-dir", "y", nullptr);
    _exit(126);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ProgramTest, TheEndOfAChildIsSeenThoughTheParentIgnoresSigchld) {
  EXPECT_EQ(BackupExitCode(0), 0);
  EXPECT_EQ(BackupExitCode(3), 1);
}

TEST(ProgramTest, ServerComesFromTheEnvironment) {
  FakeServer server;
  server.answers().server.set_version("from-environment");
  const ShellResult result =
      Shell(absl::StrCat("TRAINYARD_SERVER=", server.address(), " ", kProgram, " version"));
  EXPECT_THAT(result.output, HasSubstr("server  from-environment"));
}

TEST(ProgramTest, NoColorInAPipe) {
  EXPECT_THAT(Shell(absl::StrCat("TERM=xterm ", kProgram, " sumbit")).output,
              Not(HasSubstr("\033")));
}

// A checkpoint command executes the program in the same directory in its own process, so output and
// exit code are those of the program.
TEST(ProgramTest, CheckpointCommandsRunTheProgramBesideThisOne) {
  const TemporaryDirectory directory;
  const std::string copy = directory.File("trainyard");
  std::filesystem::copy_file(kProgram, copy);
  const std::string program = directory.File("trainyard-ckpt");
  WriteFile(program, "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 74\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto expect = [&](const std::string& words, const std::string& output) {
    const ShellResult result = Shell(absl::StrCat(copy, " ckpt ", words));
    EXPECT_EQ(result.output, output);
    EXPECT_EQ(result.exit_code, 74);
  };
  expect("verify 'a b' --all", "verify|--all|--|a b|");
  expect("diff a b -o json --tolerance 1e-5 --only=weights -a",
         "diff|--tolerance=1e-5|--only=weights|--all|--output=json|--|a|b|");
  expect("reshard a b --files 3 --weights-only --force",
         "reshard|--files=3|--weights-only|--force|--|a|b|");
  expect("import a b", "import|--|a|b|");
  expect("import a b --force", "import|--force|--|a|b|");
  expect("export a b", "export|--|a|b|");
  expect("export a b --dtype bf16 --shard-bytes 5000000000",
         "export|--dtype=bf16|--shard-bytes=5000000000|--|a|b|");
}

TEST(ProgramTest, YardIsTheSameProgram) {
  const std::string program = kProgram;
  const std::string yard = absl::StrCat(program.substr(0, program.rfind('/')), "/yard");
  EXPECT_EQ(Shell(absl::StrCat(yard, " --version")).output,
            Shell(absl::StrCat(program, " --version")).output);
}

// Returns bash's completions for the word at index `last` of `words`. That word may be empty.
std::string Complete(const std::string& words, int last) {
  return Shell(absl::StrCat("source <(", kProgram, " completion bash)\nCOMP_WORDS=(", words,
                            ")\nCOMP_CWORD=", last,
                            "\ncompopt() { :; }\n_trainyard\necho \"${COMPREPLY[@]}\""))
      .output;
}

TEST(ProgramTest, BashCompletesCommandsOptionsAndKeys) {
  EXPECT_EQ(Complete("trainyard subm", 1), "submit\n");
  EXPECT_EQ(Complete("trainyard job desc", 2), "describe\n");
  EXPECT_EQ(Complete("trainyard -o json logs --foll", 4), "--follow\n");
  EXPECT_EQ(Complete("trainyard submit --set train.seq", 3), "train.seq_length=\n");
  EXPECT_EQ(Complete("trainyard ps -o ya", 3), "yaml\n");
  EXPECT_EQ(Complete("trainyard data prepare -o /et", 4), "/etc\n");
  EXPECT_EQ(Complete("trainyard ps --serv", 2), "--server\n");
  EXPECT_EQ(Complete("trainyard ckpt ''", 2).substr(0, 5), "list ");
  EXPECT_EQ(Complete("trainyard ckpt verify /et", 3), "/etc\n");
}

TEST(ProgramTest, OfflineCommandsStartAtOnce) {
#ifdef TRAINYARD_SANITIZED
  GTEST_SKIP() << "a sanitizer takes processor time of its own";
#endif
  // The goal is 20 ms on an idle machine. The limit is ten times the goal, low enough to detect a
  // connection that is opened too early. Processor time is measured because other programs hardly
  // affect it.
  int64_t best_us = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const int null_fd = open("/dev/null", O_WRONLY);
      dup2(null_fd, STDOUT_FILENO);
      execl(kProgram, kProgram, "explain", "train", nullptr);
      _exit(126);
    }
    int status = 0;
    rusage usage{};
    ASSERT_EQ(wait4(child, &status, 0, &usage), child);
    ASSERT_EQ(status, 0);
    const auto microseconds = [](const timeval& time) {
      return int64_t{1000000} * time.tv_sec + time.tv_usec;
    };
    best_us = std::min(best_us, microseconds(usage.ru_utime) + microseconds(usage.ru_stime));
  }
  EXPECT_LT(best_us, 200000);
}

}  // namespace
}  // namespace trainyard::cli
