// The reason of a cordon or drain is shown wherever the node or a waiting job is shown.
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Each command shows both nodes, or a job that waits for both.
const std::vector<std::vector<std::string>>& Commands() {
  static const std::vector<std::vector<std::string>> kCommands = {
      {"nodes"}, {"ps"}, {"queue"}, {"why", "wide"}, {"describe", "wide"}};
  return kCommands;
}

constexpr const char* kPaths[] = {"/api/v1/nodes",     "/api/v1/queues", "/api/v1/jobs/wide/why",
                                  "/api/v1/jobs/wide", "/api/v1/events", "/metrics"};

TEST(NodeReasonsTest, EveryDoorShowsWhyANodeTakesNoRanks) {
  MiniCluster cluster(/*nodes=*/2);
  const auto have_both = AllOf(HasSubstr("replace the fan"), HasSubstr("new firmware"));
  ASSERT_EQ(cluster.Cli({"node", "cordon", "node0", "--reason", "replace the fan"}).exit_code, 0);
  ASSERT_EQ(cluster.Cli({"node", "drain", "node1", "--deadline", "1h", "--reason", "new firmware"})
                .exit_code,
            0);
  const int64_t job = cluster.Submit(cluster.WriteJob(
      "wide", "name: wide\ncommand: [/bin/true]\nresources: {nodes: 2, device: cpu}\n"));
  for (const std::vector<std::string>& command : Commands()) {
    EXPECT_THAT(cluster.Cli(command).output, have_both) << absl::StrJoin(command, " ");
  }
  EXPECT_THAT(cluster.Cli({"node", "describe", "node0"}).output, HasSubstr("replace the fan"));
  EXPECT_THAT(cluster.Cli({"node", "describe", "node1"}).output, HasSubstr("new firmware"));

  const std::string token = FirstLine(ReadFile(cluster.directory() + "/controller/token"));
  std::vector<HttpRequest> requests;
  for (const char* path : kPaths) requests.push_back({"GET", HttpUrl(cluster, path)});
  const auto answers = HttpAll(requests, {"Authorization: Bearer " + token});
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_THAT(answers[i].text, have_both) << kPaths[i];
  }

  cluster.Cli({"node", "uncordon", "node0"});
  cluster.Cli({"node", "uncordon", "node1"});
  EXPECT_EQ(cluster.WaitForEnd(job).state(), v1::JOB_STATE_SUCCEEDED);
}

}  // namespace
}  // namespace trainyard::test
