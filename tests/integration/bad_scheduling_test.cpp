// Scheduling requests that the command line and the REST API must refuse: one line, the documented
// exit code or status, and no event.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Exit codes of cli/README.md.
constexpr int kWrongCommand = 2;
constexpr int kUnknown = 3;
constexpr int kRefused = 4;

struct BadCommand {
  std::vector<std::string> arguments;
  int exit_code;
  std::string message;
};

// Lines of a job file, refused by its rules or only by the controller.
struct BadJobLine {
  std::string lines;
  int exit_code;
  int http_status;
  std::string message;
};

struct BadCall {
  std::string method;
  std::string path;
  std::string body;
  int status;
  std::string message;
};

const std::vector<BadCommand>& BadCommands() {
  static const std::vector<BadCommand> kCommands = {
      {{"queue", "move", "runs", "--priority", "nan"}, kWrongCommand, "--priority = nan"},
      {{"queue", "move", "runs", "--priority", "1001"}, kWrongCommand, "from -1000 to 1000"},
      {{"queue", "move", "runs", "--queue", "night"}, kUnknown, "no queue is called `night`"},
      {{"queue", "move", "runs", "--queue", "default"}, kRefused, "has slots, which count for"},
      {{"queue", "set", "lab", "--max", "cpu=1"}, kRefused, "`max_slots` cannot be 1; stop or"},
      {{"queue", "set", "lab", "--max-per-user", "cpu=1"}, kRefused, "cannot be 1; stop or"},
      {{"queue", "set", "lab", "--max", "cpu=-1"}, kWrongCommand, "is -1; it must be from 0"},
      {{"queue", "set", "lab", "--nominal", "cpu=nan"}, kWrongCommand, "write KIND=SLOTS"},
      {{"queue", "set", "lab", "--nominal", "cpu=9", "--max", "cpu=8"}, kWrongCommand, "greater"},
      {{"queue", "set", "lab", "--shares", "-1"}, kWrongCommand, "`shares` is -1"},
      {{"queue", "set", "lab", "--shares", "NaN"}, kWrongCommand, "--shares = NaN"},
      {{"queue", "set", "lab", "--tier", "101"}, kWrongCommand, "`tier` is 101"},
      {{"queue", "set", "a/b"}, kWrongCommand, "the queue name `a/b` is not valid"},
      {{"queue", "delete", "lab"}, kRefused, "is in the queue lab; move its jobs first"},
      {{"queue", "delete", "default"}, kRefused, "the queue `default` always exists"},
      {{"queue", "delete", "night"}, kUnknown, "no queue is called `night`"},
      {{"queue", "--limit", "-1"}, kWrongCommand, "Value -1 not in range"},
      {{"extend", "runs", "0s"}, kWrongCommand, "must be a duration above 0"},
      {{"extend", "runs", "-1h"}, kWrongCommand, "must be a duration above 0"},
      {{"extend", "runs", "3650d"}, kWrongCommand, "a time limit may have at most 8760 h"},
      {{"node", "drain", "node0", "--deadline", "-1h"}, kWrongCommand, "at most 30 days"},
      {{"node", "drain", "node0", "--deadline", "3650d"}, kWrongCommand, "at most 30 days"},
      {{"node", "drain", "node0", "--deadline", "nan"}, kWrongCommand, "at most 30 days"},
  };
  return kCommands;
}

const std::vector<BadJobLine>& BadJobLines() {
  static const std::vector<BadJobLine> kLines = {
      {"priority: .nan", kWrongCommand, 400, "`priority` must be a whole number"},
      {"time_limit: 0", kWrongCommand, 400, "`time_limit` must be at least 1s, got 0s"},
      {"time_limit: 3650d", kWrongCommand, 400, "`time_limit` must be at most 31536000s"},
      {"matrix: {env.SEED: 1..1000000000}", kWrongCommand, 400, "more than 1000000 elements"},
      {"resources: {nodes: 8..2, device: cpu}", kWrongCommand, 400, "a range such as 2..8"},
      {"after: [bad]", kWrongCommand, 400, "a job cannot wait for itself"},
      {"resources: {device: cpu}\nafter: [\"77\"]", kWrongCommand, 400, "there is no job `77`"},
      {"resources: {device: cpu}\nafter: [\"runs:success\", \"runs:failure\"]", kWrongCommand, 400,
       "cannot both succeed and fail"},
      {"queue: night", kUnknown, 404, "no queue is called `night`"},
      {"placement: {within: leaf}", kRefused, 409, "but this cluster has no topology"},
      {"resources: {nodes: 9, device: cpu}", kRefused, 409, "9 nodes"},
  };
  return kLines;
}

const std::vector<BadCall>& BadCalls() {
  static const std::vector<BadCall> kCalls = {
      {"POST", "/jobs/runs/move", R"({"priority": NaN})", 400, "the body is not JSON"},
      {"POST", "/jobs/runs/move", R"({"priority": "NaN"})", 400, "must be a whole number"},
      {"POST", "/jobs/runs/move", R"({"priority": 1e300})", 400, "must be a whole number"},
      {"POST", "/jobs/runs/move", R"({"priority": 1001})", 400, "from -1000 to 1000"},
      {"POST", "/jobs/runs/move", R"({"queue": "night"})", 404, "no queue is called `night`"},
      {"POST", "/jobs/runs/move", R"({"queue": "default"})", 409, "has slots"},
      {"POST", "/queues/lab", R"({"queue": {"quotas": [{"device": "cpu", "max_slots": 1}]}})", 409,
       "`max_slots` cannot be 1; stop or pause"},
      {"POST", "/queues/lab", R"({"queue": {"quotas": [{"device": "cpu", "max_slots": -1}]}})", 400,
       "is -1; it must be from 0"},
      {"POST", "/queues/lab", R"({"queue": {"shares": -1}})", 400, "`shares` is -1"},
      {"POST", "/queues/lab", R"({"queue": {"tier": 1e300}})", 400, "must be a whole number"},
      {"DELETE", "/queues/lab", "", 409, "is in the queue lab; move its jobs first"},
      {"DELETE", "/queues/default", "", 409, "the queue `default` always exists"},
      {"GET", "/queues?limit=-1", "", 400, "limit: must be between 1 and 10000"},
      {"POST", "/jobs/runs/extend", R"({"by": "0s"})", 400, "the time to add must be at least"},
      {"POST", "/jobs/runs/extend", R"({"by": "3650d"})", 400, "at most 8760 h"},
      {"POST", "/jobs/runs/extend", R"({"by": NaN})", 400, "the body is not JSON"},
      {"POST", "/topology",
       R"({"topology": {"groups": [{"name": "a", "level": "leaf", "nodes": ["n"]},
                                   {"name": "b", "level": "leaf", "nodes": ["n"]}]}})",
       400, "the node n is in two groups, a and b"},
      {"POST", "/nodes/node0/drain", R"({"drain_after_ms": -1})", 400, "drain_after_ms is -1"},
      {"POST", "/nodes/node0/drain", R"({"drain_after_ms": 315360000000})", 400,
       "drain_after_ms is 315360000000"},
  };
  return kCalls;
}

constexpr char kTwoParents[] = R"(groups:
  - {name: spine1, level: spine, groups: [leaf1]}
  - {name: spine2, level: spine, groups: [leaf1]}
  - {name: leaf1, level: leaf, nodes: [node0]}
)";

// One node with two slots, and the job `runs`, which holds both slots in the queue `lab`.
class BadSchedulingDoorTest : public testing::Test {
 protected:
  BadSchedulingDoorTest() {
    cluster_.Cli({"queue", "set", "lab"});
    const int64_t job = cluster_.Submit(
        cluster_.WriteJob("runs",
                          "name: runs\ncommand: [/bin/sleep, '600']\nqueue: lab\ntime_limit: 1h\n"
                          "resources: {slots_per_node: 2, device: cpu}\n"));
    EXPECT_TRUE(Eventually([&] { return cluster_.Job(job).state() == v1::JOB_STATE_RUNNING; }));
  }

  // Runs the requests, and expects that they append no event.
  void ExpectNoEvent(const std::function<void()>& requests) {
    const uint64_t before = cluster_.Revision();
    requests();
    EXPECT_EQ(cluster_.Revision(), before) << cluster_.Events(5).DebugString();
  }

  void ExpectRefused(const BadCommand& bad) {
    const CommandResult result = cluster_.Cli(bad.arguments);
    const std::string what = absl::StrCat(bad.arguments[0], " ", bad.arguments.back());
    EXPECT_EQ(result.exit_code, bad.exit_code) << what << ": " << result.error;
    EXPECT_EQ(result.output, "") << what;
    EXPECT_THAT(result.error, AllOf(HasSubstr("error: "), HasSubstr(bad.message))) << what;
    // Errors of the parser of the command line have a second line: see `... --help`.
    const std::string line = FirstLine(result.error);
    const std::string rest = result.error.substr(line.size() + 1);
    EXPECT_TRUE(rest.empty() || rest.starts_with("  see `trainyard ")) << result.error;
  }

  std::string Job(const BadJobLine& bad) const {
    return absl::StrCat("name: bad\ncommand: [/bin/true]\n", bad.lines, "\n");
  }

  MiniCluster cluster_{/*nodes=*/1, /*slots_per_node=*/2};
};

TEST_F(BadSchedulingDoorTest, TheCommandLineRefusesWithOneLineAndItsExitCode) {
  ExpectNoEvent([&] {
    for (const BadCommand& bad : BadCommands()) ExpectRefused(bad);
    for (const BadJobLine& bad : BadJobLines()) {
      ExpectRefused({{"submit", cluster_.WriteJob("bad", Job(bad))}, bad.exit_code, bad.message});
    }
    const std::string topology = cluster_.WriteJob("topology", kTwoParents);
    ExpectRefused(
        {{"topology", "set", topology}, kWrongCommand, "is in two groups, spine1 and spine2"});
  });
}

TEST_F(BadSchedulingDoorTest, TheRestApiRefusesWithOneProblemAndItsStatus) {
  std::vector<BadCall> calls = BadCalls();
  for (const BadJobLine& bad : BadJobLines()) {
    const std::string body = nlohmann::json({{"job_file", Job(bad)}, {"user", "ada"}}).dump();
    calls.push_back({"POST", "/jobs", body, bad.http_status, bad.message});
  }
  std::vector<HttpRequest> requests;
  for (const BadCall& call : calls) {
    requests.push_back({call.method, HttpUrl(cluster_, "/api/v1" + call.path), call.body});
  }
  const std::string token = FirstLine(ReadFile(cluster_.directory() + "/controller/token"));
  ExpectNoEvent([&] {
    const std::vector<HttpAnswer> answers =
        HttpAll(requests, {"Authorization: Bearer " + token, "Content-Type: application/json"});
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::string what = absl::StrCat(calls[i].path, " ", calls[i].body);
      EXPECT_EQ(answers[i].status, calls[i].status) << what << ": " << answers[i].text;
      const auto problem = nlohmann::json::parse(answers[i].text, nullptr, false);
      ASSERT_TRUE(problem.contains("detail")) << what << ": " << answers[i].text;
      EXPECT_THAT(problem["detail"].get<std::string>(),
                  AllOf(HasSubstr(calls[i].message), Not(HasSubstr("\n"))))
          << what;
    }
  });
}

TEST_F(BadSchedulingDoorTest, ARelabeledNodeKeepsItsGangAndTheJobNamesTheNode) {
  cluster_.KillWorker(0);
  cluster_.StartWorker(0, {"--label", "pool=a"});
  const std::string job = absl::StrReplaceAll(
      Job({"placement: {labels: {pool: a}}\nresources: {device: cpu}", 0, 0, ""}),
      {{"/bin/true", "/bin/sleep, '600'"}});
  ASSERT_TRUE(Eventually([&] { return cluster_.Nodes()["node0"].labels().contains("pool"); }));
  cluster_.Cli({"stop", "runs", "-y"});
  const int64_t labeled = cluster_.Submit(cluster_.WriteJob("bad", job));
  const auto runs = [&] { return cluster_.Job(labeled).state() == v1::JOB_STATE_RUNNING; };
  ASSERT_TRUE(Eventually(runs)) << cluster_.DaemonLogs();
  cluster_.KillWorker(0);
  cluster_.StartWorker(0, {"--label", "pool=b"});
  EXPECT_TRUE(Eventually([&] {
    const std::string text = cluster_.Cli({"describe", "bad"}).output;
    return text.find("`placement` no longer allows node node0") != std::string::npos;
  })) << cluster_.Cli({"describe", "bad"}).output;
  EXPECT_TRUE(runs());
  EXPECT_EQ(cluster_.Job(labeled).attempts_size(), 1);
}

}  // namespace
}  // namespace trainyard::test
