#include "controller/hooks/hook_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

class HookCommandTest : public testing::Test {
 protected:
  absl::Status Run(std::vector<std::string> command, const std::string& body = "{}") {
    HookRule rule{.name = "a", .command = std::move(command), .timeout = timeout_};
    return RunHookCommand(rule, {.kind = "job_failed", .id = "c1-17", .body = body}, process_,
                          canceller_);
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.File("output");
  std::chrono::milliseconds timeout_{20'000};
  HookProcess process_;
  CallCanceller canceller_;
};

TEST_F(HookCommandTest, TheEventIsOnStandardInputAndInTheEnvironment) {
  const std::string body(1 << 20, 'x');
  EXPECT_TRUE(Run({"/bin/sh", "-c",
                   "(cat; printf ' %s %s' $TRAINYARD_EVENT $TRAINYARD_EVENT_ID) > " + path_},
                  body)
                  .ok());
  EXPECT_EQ(ReadFile(path_), body + " job_failed c1-17");
}

TEST_F(HookCommandTest, WordsAreNoShellCommands) {
  EXPECT_TRUE(Run({"/usr/bin/touch", path_ + ";false"}).ok());
  EXPECT_EQ(std::remove((path_ + ";false").c_str()), 0);
}

TEST_F(HookCommandTest, AnotherEndThanZeroIsAFailure) {
  EXPECT_THAT(Run({"/bin/sh", "-c", "exit 3"}).message(), HasSubstr("code 3"));
  EXPECT_THAT(Run({"/bin/sh", "-c", "kill -9 $$"}).message(), HasSubstr("signal 9"));
  EXPECT_THAT(Run({"/no/such/program"}).message(), HasSubstr("/no/such/program"));
}

TEST_F(HookCommandTest, AProgramNeedNotReadItsInput) {
  EXPECT_TRUE(Run({"/bin/true"}, std::string(1 << 20, 'x')).ok());
}

TEST_F(HookCommandTest, AProgramThatHangsIsKilledWithItsChildren) {
  timeout_ = std::chrono::milliseconds(50);
  EXPECT_EQ(Run({"/bin/sh", "-c", "sleep 1000 & wait"}).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(HookCommandTest, TheEnvironmentHoldsNoSecretsOfTheController) {
  ASSERT_EQ(setenv("AWS_SECRET_ACCESS_KEY", "secret", 1), 0);
  ASSERT_EQ(setenv("LANG", "C.UTF-8", 1), 0);
  const absl::Status status = Run({"/bin/sh", "-c", "env > " + path_});
  ASSERT_EQ(unsetenv("AWS_SECRET_ACCESS_KEY"), 0);
  EXPECT_TRUE(status.ok()) << status;
  std::set<std::string> names;
  for (const absl::string_view line : absl::StrSplit(ReadFile(path_), '\n', absl::SkipEmpty())) {
    names.emplace(line.substr(0, line.find('=')));
  }
  // The shell adds PWD; some shells add the last two.
  for (const char* name : {"PWD", "SHLVL", "_"}) names.erase(name);
  EXPECT_THAT(names, testing::IsSubsetOf(
                         {"PATH", "HOME", "LANG", "TRAINYARD_EVENT", "TRAINYARD_EVENT_ID"}));
  EXPECT_THAT(names,
              testing::IsSupersetOf({"PATH", "LANG", "TRAINYARD_EVENT", "TRAINYARD_EVENT_ID"}));
}

TEST_F(HookCommandTest, AProgramMayEndItselfAtTheTimeout) {
  timeout_ = std::chrono::milliseconds(200);
  EXPECT_EQ(Run({"/bin/sh", "-c",
                 "trap 'echo ended > " + path_ +
                     "; exit 0' TERM; while :; do sleep "
                     "0.01; done"})
                .code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ReadFile(path_), "ended\n");
}

TEST_F(HookCommandTest, AProgramThatIgnoresSigtermIsKilled) {
  timeout_ = std::chrono::milliseconds(50);
  EXPECT_EQ(
      Run({"/bin/sh", "-c", "trap '' TERM; echo $$ > " + path_ + "; while :; do sleep 1; done"})
          .code(),
      absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(process_.stuck_pid, 0);
}

// Traces a process so that the parent of the process cannot reap it: the kernel reports a zombie to
// its tracer first. Until the tracer is destroyed, the process appears to the parent to be stuck in
// the kernel.
class Tracer {
 public:
  explicit Tracer(pid_t traced) {
    int begun[2];
    EXPECT_EQ(pipe(begun), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const char seized = ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0 ? 'y' : 'n';
      (void)!write(begun[1], &seized, 1);
      pause();
      _exit(0);
    }
    char seized = 'n';
    EXPECT_EQ(read(begun[0], &seized, 1), 1);
    works_ = seized == 'y';
    close(begun[0]);
    close(begun[1]);
  }
  ~Tracer() { End(); }
  void End() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  bool works() const { return works_; }

 private:
  pid_t pid_ = 0;
  bool works_ = false;
};

TEST_F(HookCommandTest, NoCallWaitsForAProcessThatSurvivesSigkillAndNoneIsAddedToIt) {
  absl::Status status;
  std::thread call([&] {
    status =
        Run({"/bin/sh", "-c",
             "echo $$ > " + path_ + ".new; mv " + path_ + ".new " + path_ + "; exec sleep 1000"});
  });
  pid_t pid = 0;
  while (!absl::SimpleAtoi(ReadFile(path_), &pid)) std::this_thread::yield();
  Tracer tracer(pid);
  canceller_.Cancel();
  call.join();
  if (!tracer.works()) GTEST_SKIP() << "this machine forbids ptrace";
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(status.message(), HasSubstr("survived SIGKILL"));
  EXPECT_EQ(process_.stuck_pid, pid);

  CallCanceller next;
  const HookRule rule{.name = "a", .command = {"/usr/bin/touch", path_ + ".next"}};
  const auto again = [&] { return RunHookCommand(rule, {.kind = "k", .id = "1"}, process_, next); };
  EXPECT_THAT(again().message(), HasSubstr(absl::StrCat("process ", pid, " of an earlier call")));
  EXPECT_NE(access((path_ + ".next").c_str(), F_OK), 0);
  tracer.End();
  while (!again().ok()) std::this_thread::yield();
  EXPECT_EQ(process_.stuck_pid, 0);
}

TEST_F(HookCommandTest, AStopEndsTheCall) {
  canceller_.Cancel();
  EXPECT_EQ(Run({"/bin/sleep", "1000"}).code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace trainyard::controller
