// Tests a webhook and a command hook with the real programs. The receiver refuses the first call.
// Both hooks must be notified of a failed job, even if the controller is killed in between.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/controller/hooks/receiver.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using controller::Receiver;
using testing::HasSubstr;

std::string BodyOf(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

TEST(HooksTest, AFailureIsToldToAWebhookAndACommandThroughKillMinusNine) {
  std::atomic<bool> is_away = true;
  Receiver receiver([&](int) { return is_away ? 503 : 200; });
  MiniCluster cluster(1);
  const std::string told_command = absl::StrCat(cluster.directory(), "/told");
  const std::string config = absl::StrCat(cluster.directory(), "/hooks.yaml");
  const std::string secret = absl::StrCat(cluster.directory(), "/secret");
  WriteFile(secret, "key");
  std::filesystem::permissions(secret, std::filesystem::perms::owner_read);
  WriteFile(config,
            absl::StrCat("hooks:\n  - name: chat\n    on: [job_failed]\n    url: ", receiver.Url(),
                         "\n    secret_file: ", secret, "\n  - name: pager\n    on: [job_failed]\n",
                         "    command: [/bin/sh, -c, 'cat >> ", told_command, "; echo >> ",
                         told_command, "']\n"));
  cluster.KillController();
  cluster.StartController({"--config", config});
  const int64_t job = cluster.Submit(cluster.WriteJob(
      "fails", "name: fails\nresources: {device: cpu}\ncommand: [/bin/sh, -c, 'exit 64']\n"));
  EXPECT_EQ(cluster.WaitForEnd(job).state(), v1::JOB_STATE_FAILED);
  receiver.WaitFor(1);
  cluster.KillController();
  is_away = false;
  const std::size_t refused = receiver.WaitFor(1).size();
  cluster.StartController({"--config", config});

  const std::vector<std::string> requests = receiver.WaitFor(refused + 1);
  ASSERT_GT(requests.size(), refused) << cluster.DaemonLogs();
  const std::string& told = requests.back();
  EXPECT_THAT(told, HasSubstr("X-Trainyard-Event: job_failed"));
  EXPECT_THAT(told, HasSubstr("X-Trainyard-Signature: sha256="));
  const auto body = nlohmann::json::parse(BodyOf(told));
  EXPECT_EQ(body["kind"], "job_failed");
  EXPECT_EQ(body["job_id"], job);
  EXPECT_EQ(body["id"], nlohmann::json::parse(BodyOf(requests.front()))["id"]) << "every try alike";

  const auto lines = [&]() -> std::vector<std::string> {
    const std::string text = std::filesystem::exists(told_command) ? ReadFile(told_command) : "";
    const std::size_t end = text.rfind('\n');
    if (end == std::string::npos) return {};
    return absl::StrSplit(text.substr(0, end), '\n');
  };
  ASSERT_TRUE(Eventually([&] { return !lines().empty(); })) << cluster.DaemonLogs();
  // The command runs a second time if the controller was killed before it had recorded the first
  // run.
  for (const std::string& line : lines()) {
    EXPECT_EQ(nlohmann::json::parse(line)["id"], body["id"]) << line;
  }
}

TEST(HooksTest, ACommandSeesNoSecretOfTheControllersEnvironment) {
  MiniCluster cluster(1);
  const std::string seen = absl::StrCat(cluster.directory(), "/seen");
  const std::string config = absl::StrCat(cluster.directory(), "/hooks.yaml");
  WriteFile(config, absl::StrCat("hooks:\n  - name: pager\n    on: [job_failed]\n",
                                 "    command: [/bin/sh, -c, 'env > ", seen, ".new; mv ", seen,
                                 ".new ", seen, "']\n"));
  cluster.KillController();
  ASSERT_EQ(setenv("PAGER_PASSWORD", "open sesame", 1), 0);
  cluster.StartController({"--config", config});
  ASSERT_EQ(unsetenv("PAGER_PASSWORD"), 0);
  const int64_t job = cluster.Submit(cluster.WriteJob(
      "fails", "name: fails\nresources: {device: cpu}\ncommand: [/bin/sh, -c, 'exit 64']\n"));
  EXPECT_EQ(cluster.WaitForEnd(job).state(), v1::JOB_STATE_FAILED);
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(seen); })) << cluster.DaemonLogs();
  const std::string environment = ReadFile(seen);
  EXPECT_THAT(environment, HasSubstr("TRAINYARD_EVENT=job_failed\n"));
  EXPECT_THAT(environment, HasSubstr("PATH="));
  EXPECT_THAT(environment, testing::Not(HasSubstr("open sesame")));
}

TEST(HooksTest, AMalformedUrlStopsTheStart) {
  const TemporaryDirectory directory;
  for (const std::string url : {"http://[::1", "http://[::1]:0/x", "http://a..b/"}) {
    WriteFile(directory.File("hooks.yaml"),
              absl::StrCat("hooks:\n  - name: chat\n    on: [all]\n    url: '", url, "'\n"));
    const CommandResult result =
        RunCommand({ProgramPath("trainyard-controller"), "--listen", "127.0.0.1:0", "--data-dir",
                    directory.File("data"), "--config", directory.File("hooks.yaml")},
                   Seconds(20));
    EXPECT_GT(result.exit_code, 0) << url << " was taken";
    EXPECT_THAT(result.error + result.output, HasSubstr("hooks: chat: url: ")) << url;
  }
}

}  // namespace
}  // namespace trainyard::test
