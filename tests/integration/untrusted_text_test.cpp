// Tests that text chosen by jobs is safe where it reaches terminals: in the command line's output,
// in output over
// HTTP, and in metrics.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

TEST(UntrustedTextTest, ControlCharactersOfARankDoNotReachATerminal) {
  MiniCluster cluster(1);
  const std::string token = FirstLine(ReadFile(cluster.directory() + "/controller/token"));
  const int64_t job = cluster.Submit(
      cluster.WriteJob("esc",
                       "name: esc\nresources: {device: cpu}\n"
                       "command: [/bin/sh, -c, 'printf "
                       "\"a\\\\033]0;owned\\\\007b\\\\342\\\\200\\\\256c\\\\n\"; "
                       "printf \"%s\\\\n\" \"$ALERT\" >> $TRAINYARD_TELEMETRY; sleep 60']\n"
                       "env: {ALERT: \"{\\\"type\\\": \\\"alert\\\", \\\"step\\\": 1, "
                       "\\\"code\\\": \\\"x\\\\u001b[2J\\\", \\\"message\\\": \\\"m\\\"}\"}\n"));
  ASSERT_TRUE(Eventually([&] { return !cluster.Logs(job, 0, 1).empty(); }));
  constexpr char kShown[] = "a\\u001b]0;owned\\u0007b\\u202ec";
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, std::vector<std::string>{"-o", "csv"}}) {
    std::vector<std::string> command = {"logs", absl::StrCat(job)};
    command.insert(command.end(), more.begin(), more.end());
    const std::string output = cluster.Cli(command).output;
    EXPECT_THAT(output, HasSubstr(kShown));
    EXPECT_EQ(output.find('\033'), std::string::npos);
  }
  const auto logs = [&](const std::string& format) {
    return Http("GET",
                HttpUrl(cluster, absl::StrCat("/api/v1/jobs/", job, "/logs?format=", format)),
                {"Authorization: Bearer " + token});
  };
  EXPECT_EQ(logs("text").text, absl::StrCat(kShown, "\n"));
  EXPECT_EQ(logs("raw").text, "a\033]0;owned\007b\342\200\256c\n");
  EXPECT_EQ(logs("raw").content_type, "application/octet-stream");
  // The rank chooses the code of its alert, and this code becomes the value of a metric's label.
  std::string page;
  EXPECT_TRUE(Eventually([&] {
    page = Http("GET", HttpUrl(cluster, "/metrics")).text;
    return page.find("code=\"x\\\\u001b[2J\"") != std::string::npos;
  })) << page;
  EXPECT_EQ(page.find('\033'), std::string::npos);
  EXPECT_EQ(cluster.Cli({"kill", "-y", absl::StrCat(job)}).exit_code, 0);
}

}  // namespace
}  // namespace trainyard::test
