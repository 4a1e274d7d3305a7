#include "controller/hooks/hook_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

class HookCommandTest : public testing::Test {
 protected:
  absl::Status Run(std::vector<std::string> command, const std::string& body = "{}") {
    HookRule rule{.name = "a", .command = std::move(command), .timeout = timeout_};
    return RunHookCommand(rule, {.kind = "job_failed", .id = "c1-17", .body = body}, canceller_);
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.File("output");
  std::chrono::milliseconds timeout_{20'000};
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

TEST_F(HookCommandTest, AStopEndsTheCall) {
  canceller_.Cancel();
  EXPECT_EQ(Run({"/bin/sleep", "1000"}).code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace trainyard::controller
