// Tests the grammar, the exit codes, and the rules for output that apply to every command.
#include "cli/app.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class AppTest : public CliFixture {};

TEST_F(AppTest, SuggestsTheNearestCommand) {
  const CliResult result = Run({"sumbit", "job.yaml"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("`trainyard` has no command `sumbit`; did you mean `submit`?"));
}

TEST_F(AppTest, SuggestsTheNearestCommandOfANoun) {
  const CliResult result = Run({"job", "descibe", "1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("`trainyard job` has no command `descibe`; did you mean `describe`?"));
}

TEST_F(AppTest, SuggestsTheNearestOption) {
  const CliResult result = Run({"logs", "1", "--folow"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no option `--folow`; did you mean `--follow`?"));
}

TEST_F(AppTest, WithoutACommandPrintsHelpAndFails) {
  const CliResult result = Run({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("Subcommands:"));
}

TEST_F(AppTest, HelpAndVersionAreData) {
  const CliResult help = Run({"submit", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("--request-id"));
  const CliResult version = Run({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, StartsWith("trainyard "));
}

TEST_F(AppTest, EveryMistakeOnTheCommandLineExitsWith2) {
  const std::vector<std::vector<std::string>> mistakes = {
      {"logs"},
      {"logs", "1", "--tail", "many"},
      {"logs", "1", "--tail", "-3"},
      {"logs", "1", "--rank", "3-1"},
      {"logs", "1", "--rank", "0,,1"},
      {"logs", "1", "--rank", "0-99999999"},
      {"logs", "1", "-o", "yaml"},
      {"logs", "tiny@2", "--attempt", "3"},
      {"ps", "-o", "xml"},
      {"ps", "--state", "sleeping"},
      {"ps", "--limit", "0"},
      {"ps", "extra"},
      {"ps", "--", "x"},
      {"submit"},
      {"submit", "none.yaml"},
      {"submit", "no-such-recipe"},
      {"submit", "job.yaml", "--"},
      {"submit", "job.yaml", "--timeout", "10m"},
      {"wait", "1", "--timeout", "soon"},
      {"describe", "Bad Name"},
      {"describe", "tiny@x"},
      {"describe", "tiny@0"},
      {"describe", std::string(100, 'a')},
      {"why", "tiny@2"},
      {"metrics", "1", "--buckets", "99999"},
      {"completion", "tcsh"},
      {"--server", "http://host:1", "ps"},
      {"--server", "two words", "ps"},
      {"--recipes", "/nonexistent/folder", "recipes"},
      {"dev", "--nodes", "0"},
      {"job", "-a", "list"},
      {"job", "describe", "17", "-a"},
      {"data", "prepare", "a.txt", "-o", ""},
      {"data", "prepare", "-o", "/tmp/none", "a.txt", "--", "b.txt"}};
  for (const auto& arguments : mistakes) {
    const CliResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(arguments) << result.err;
    EXPECT_THAT(result.out, IsEmpty()) << ::testing::PrintToString(arguments);
    EXPECT_THAT(result.err, StartsWith("error: ")) << ::testing::PrintToString(arguments);
  }
}

TEST_F(AppTest, ServerErrorsBecomeExitCodes) {
  const std::vector<std::pair<grpc::StatusCode, int>> codes = {
      {grpc::StatusCode::INVALID_ARGUMENT, 2},
      {grpc::StatusCode::NOT_FOUND, 3},
      {grpc::StatusCode::FAILED_PRECONDITION, 4},
      {grpc::StatusCode::ALREADY_EXISTS, 4},
      {grpc::StatusCode::PERMISSION_DENIED, 4},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, 4},
      {grpc::StatusCode::UNAVAILABLE, 7},
      {grpc::StatusCode::INTERNAL, 1},
      {grpc::StatusCode::UNKNOWN, 1},
      {grpc::StatusCode::UNIMPLEMENTED, 1}};
  for (const auto& [code, exit_code] : codes) {
    answers().status = grpc::Status(code, "the controller says no");
    for (const std::string command : {"describe", "why", "stop", "metrics"}) {
      const CliResult result = Run({command, "17"});
      EXPECT_EQ(result.exit_code, exit_code) << command << " " << code;
      EXPECT_THAT(result.err, HasSubstr("the controller says no")) << command << " " << code;
      EXPECT_THAT(result.out, IsEmpty()) << command;
    }
  }
}

TEST_F(AppTest, StreamsMapServerErrorsToo) {
  answers().status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no job 17");
  EXPECT_EQ(Run({"logs", "17"}).exit_code, 3);
  EXPECT_EQ(Run({"logs", "-f", "17"}).exit_code, 3);
  EXPECT_EQ(Run({"wait", "17"}).exit_code, 3);
}

TEST_F(AppTest, UnreachableControllerIsOneClearMessageAndNoHang) {
  const std::string job = WriteFile("job.yaml", kJobFile);
  const std::vector<std::vector<std::string>> lines = {{"ps"},
                                                       {"nodes"},
                                                       {"describe", "1"},
                                                       {"why", "1"},
                                                       {"logs", "1"},
                                                       {"metrics", "1"},
                                                       {"stop", "1"},
                                                       {"wait", "1"},
                                                       {"ckpt", "list", "1"},
                                                       {"server", "status"},
                                                       {"submit", job},
                                                       {"logs", "-f", "1"}};
  for (const auto& arguments : lines) {
    const auto start = std::chrono::steady_clock::now();
    const CliResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 7) << ::testing::PrintToString(arguments);
    EXPECT_THAT(result.err, StartsWith("error: cannot reach a controller at 127.0.0.1:1: "
                                       "connection refused\n  start one with `trainyard dev`"));
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  }
}

TEST_F(AppTest, AServerThatNeverAnswersIsLeftAfterTheLimit) {
  environment_.limits.call = std::chrono::milliseconds(100);
  answers().delay = std::chrono::milliseconds(400);
  const CliResult result = Run({"ps"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.err, HasSubstr("did not answer within"));
}

TEST_F(AppTest, APortThatIsNoControllerIsLeftAfterTheConnectLimit) {
  // The kernel accepts connections, but no program reads from the connections.
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  environment_.server = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  environment_.limits.connect = std::chrono::milliseconds(200);
  const auto start = std::chrono::steady_clock::now();
  const CliResult result = Run({"ps"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.err, HasSubstr("cannot reach a controller"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  close(listener);
}

TEST_F(AppTest, ServerMayBeNamedBeforeOrAfterTheCommand) {
  const std::string address = server().address();
  environment_.server = "127.0.0.1:1";
  EXPECT_EQ(Run({"-s", address, "nodes"}).exit_code, 0);
  EXPECT_EQ(Run({"nodes", "--server", address}).exit_code, 0);
  EXPECT_EQ(Run({"node", "list", "-s", address}).exit_code, 0);
}

TEST_F(AppTest, AMissingCommandOfANounMeansList) {
  *answers().nodes.add_nodes() = v1::Node();
  answers().pages.push_back({});
  *answers().pages.front().add_jobs() = RunningJob();
  EXPECT_EQ(Run({"node"}).out, Run({"node", "list"}).out);
  EXPECT_EQ(Run({"node"}).out, Run({"nodes"}).out);
  EXPECT_EQ(Run({"job"}).out, Run({"ps"}).out);
  EXPECT_EQ(Run({"job", "-o", "name"}).out, "17\n");
  EXPECT_EQ(Run({"server"}).out, Run({"server", "status"}).out);
}

TEST_F(AppTest, AnOptionOfANounIsNotDropped) {
  answers().pages.push_back({});
  EXPECT_THAT(Run({"job", "-a", "list"}).err,
              HasSubstr("`--all` must be placed after `trainyard job list`"));
  EXPECT_THAT(Run({"job", "describe", "17", "-a"}).err,
              HasSubstr("`trainyard job describe` has no option `--all`"));
  EXPECT_THAT(answers().list_requests, IsEmpty());
  EXPECT_EQ(Run({"job", "-a"}).exit_code, 0);
  EXPECT_EQ(Run({"job", "list", "-a"}).exit_code, 0);
  EXPECT_EQ(Run({"-o", "json", "job", "list", "-s", server().address()}).exit_code, 0);
}

TEST_F(AppTest, AJobMayBeNamedLikeACommand) {
  *answers().job.mutable_job() = RunningJob();
  EXPECT_EQ(Run({"describe", "ps"}).exit_code, 0);
  EXPECT_EQ(Run({"job", "describe", "list"}).exit_code, 0);
  ASSERT_EQ(answers().get_requests.size(), 2u);
  EXPECT_EQ(answers().get_requests[0].job(), "ps");
  EXPECT_EQ(answers().get_requests[1].job(), "list");
}

TEST_F(AppTest, ColorNeedsATerminal) {
  EXPECT_THAT(Run({"sumbit"}).err, Not(HasSubstr("\033[")));
  environment_.console.color = true;
  EXPECT_THAT(Run({"sumbit"}).err, HasSubstr("\033[1;31merror:"));
}

TEST_F(AppTest, ExplainAndSchemaNeedNoServer) {
  const CliResult explain = Run({"explain", "train.seq_length"});
  EXPECT_EQ(explain.exit_code, 0);
  EXPECT_THAT(explain.out, HasSubstr("Tokens in one sample"));
  const CliResult typo = Run({"explain", "train.seq_lenght"});
  EXPECT_EQ(typo.exit_code, 3);
  EXPECT_THAT(typo.err, HasSubstr("train.seq_length"));
  const CliResult schema = Run({"schema"});
  EXPECT_EQ(schema.exit_code, 0);
  EXPECT_TRUE(nlohmann::json::parse(schema.out).contains("properties"));
}

TEST_F(AppTest, RecipesAreListedAndShown) {
  const std::string text = "description: A small one\ntrain: {steps: 3}\n";
  WriteFile("small.yaml", text);
  WriteFile("broken.yaml", "a: [");
  WriteFile("plain.yaml", "train: {steps: 3}\n");
  WriteFile("notes.txt", "no recipe");
  const CliResult list = Run({"--recipes", directory(), "recipes"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_EQ(list.out,
            "RECIPE  DESCRIPTION\nbroken  (not readable as YAML)\nplain\nsmall   A small one\n");
  EXPECT_EQ(Run({"recipes", "show", "small", "--recipes", directory()}).out, text);
  const CliResult typo = Run({"recipes", "show", "smal", "--recipes", directory()});
  EXPECT_EQ(typo.exit_code, 3);
  EXPECT_THAT(typo.err, HasSubstr("did you mean `small`?"));
}

TEST_F(AppTest, VersionWorksWithoutAServer) {
  const CliResult disconnected = Run({"version"});
  EXPECT_EQ(disconnected.exit_code, 0);
  EXPECT_THAT(disconnected.err, HasSubstr("no answer from 127.0.0.1:1"));
  answers().server.set_version("9.9.9");
  EXPECT_THAT(Run({"version"}).out, HasSubstr("server  9.9.9\n"));
  EXPECT_EQ(nlohmann::json::parse(Run({"version", "-o", "json"}).out)["server"], "9.9.9");
  EXPECT_THAT(Run({"version", "--client"}).out, Not(HasSubstr("server")));
}

TEST_F(AppTest, OutputThatCannotBeWrittenIsAnError) {
  std::ostringstream out;
  std::ostringstream err;
  out.setstate(std::ios::badbit);
  environment_.console.out = &out;
  environment_.console.err = &err;
  EXPECT_EQ(RunTrainyard({"schema"}, environment_), 1);
  EXPECT_THAT(err.str(), HasSubstr("could not be written"));
}

}  // namespace
}  // namespace trainyard::cli
