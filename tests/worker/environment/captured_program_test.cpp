#include "worker/environment/captured_program.h"

#include <gtest/gtest.h>

#include <chrono>

namespace trainyard::worker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShellLimit{20'000};

absl::StatusOr<CapturedOutput> Shell(const std::string& script, milliseconds limit = kShellLimit,
                                     std::size_t max_bytes = 1 << 20) {
  return Capture({"sh", "-c", script}, {{"PATH", "/usr/bin:/bin"}, {"A", "b c"}}, limit, max_bytes);
}

TEST(CapturedProgramTest, ReturnsOutputAndExitCode) {
  const auto output = Shell("echo \"$A\"; exit 3");
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->text, "b c\n");
  EXPECT_EQ(output->exit_code, 3);
  EXPECT_EQ(Shell("kill -9 $$")->exit_code, 137);
}

TEST(CapturedProgramTest, KillsAProgramThatHangsOrPrintsTooMuch) {
  EXPECT_EQ(Shell("sleep 30 & sleep 30", milliseconds(100)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  // A program may close its output long before its end.
  EXPECT_EQ(Shell("exec >&- ; exec sleep 30", milliseconds(100)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Shell("while :; do echo xxxxxxxxxxxxxxxx; done", kShellLimit, 1000).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(CapturedProgramTest, DiscardsErrorsOnRequest) {
  const auto errors = [](ErrorOutput output) {
    testing::internal::CaptureStderr();
    EXPECT_TRUE(Capture({"sh", "-c", "echo oops >&2"}, {{"PATH", "/usr/bin:/bin"}}, kShellLimit,
                        1000, output)
                    .ok());
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(errors(ErrorOutput::kInherited), "oops\n");
  EXPECT_EQ(errors(ErrorOutput::kDiscarded), "");
}

TEST(CapturedProgramTest, NamesAMissingProgram) {
  const auto output = Capture({"no-such-program"}, {{"PATH", "/bin"}}, kShellLimit, 1000);
  EXPECT_EQ(output.status().message(), "no program `no-such-program` in PATH (/bin)");
}

}  // namespace
}  // namespace trainyard::worker
