// The code of a job: copied at submit, the same in every attempt and on every node.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Prints its version, and exits when the file `go` exists.
constexpr char kPrintsVersion[] = R"(import os, time
from model import VERSION
print("version", VERSION, "in", os.getcwd(), flush=True)
while not os.path.exists(os.environ["GO"]):
    time.sleep(0.05)
)";

class CodeTest : public testing::Test {
 protected:
  CodeTest() {
    std::filesystem::create_directories(Source("data"));
    std::filesystem::create_directories(Source("sub"));
    Put("train.py", kPrintsVersion);
    Put("model.py", "VERSION = 'one'\n");
    Put("sub/tool.sh", "#!/bin/sh\necho tool\n");
    Put(".trainyardignore", "data/\n");
    Put("data/large.bin", std::string(3'000'000, 'x'));
    cluster_.WriteJob("code", absl::StrCat("name: code\ncommand: [python3, train.py]\n",
                                           "code: {path: source}\nenv: {GO: ", Go(), "}\n",
                                           "resources: {nodes: 2, device: cpu}\n"));
  }

  std::string Source(const std::string& path) const {
    return cluster_.directory() + "/source/" + path;
  }
  std::string Go() const { return cluster_.directory() + "/go"; }
  std::string JobFile() const { return cluster_.directory() + "/code.yaml"; }
  void Put(const std::string& path, const std::string& text) const {
    std::ofstream(Source(path), std::ios::binary | std::ios::trunc) << text;
  }
  std::string OutputOf(int64_t job, int rank, int64_t attempt) const {
    std::string text;
    for (const v1::LogLine& line : cluster_.Logs(job, rank, attempt)) {
      absl::StrAppend(&text, line.text(), "\n");
    }
    return text;
  }
  bool WaitForOutput(int64_t job, int64_t attempt, const std::string& part) const {
    return Eventually([&] {
      return cluster_.Job(job).attempts_size() >= attempt &&
             OutputOf(job, 0, attempt).find(part) != std::string::npos &&
             OutputOf(job, 1, attempt).find(part) != std::string::npos;
    });
  }

  MiniCluster cluster_{2};
};

TEST_F(CodeTest, RestartsTheSameCodeAlthoughTheDirectoryHasChanged) {
  const CommandResult submitted = cluster_.Cli({"submit", JobFile()});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.error;
  EXPECT_THAT(submitted.error, HasSubstr("code: 4 files, "));
  EXPECT_THAT(submitted.error, HasSubstr("; ignored data/ 3.0 MB"));
  ASSERT_TRUE(WaitForOutput(1, 1, "version one")) << cluster_.DaemonLogs();

  Put("model.py", "VERSION = 'two'\n");
  std::filesystem::remove(Source("train.py"));
  ASSERT_EQ(kill(cluster_.RankPid(1, 1, 1), SIGKILL), 0);
  ASSERT_TRUE(WaitForOutput(1, 2, "version one")) << cluster_.DaemonLogs();

  const v1::CodeSpec code = cluster_.Job(1).spec().code();
  EXPECT_EQ(code.snapshot().size(), 64U);
  EXPECT_EQ(code.record().files(), 4);
  EXPECT_EQ(code.record().left_out_bytes(), 3'000'000);
  EXPECT_EQ(code.path(), "");
  EXPECT_THAT(cluster_.Cli({"describe", "1"}).output,
              HasSubstr(absl::StrCat("snapshot ", code.snapshot().substr(0, 12))));
  std::ofstream(Go()) << "go";
  EXPECT_EQ(cluster_.WaitForEnd(1).state(), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(CodeTest, ACloneRunsTheSameCodeAndANewSubmissionTheNewCode) {
  std::ofstream(Go()) << "go";
  ASSERT_EQ(cluster_.Cli({"submit", JobFile()}).exit_code, 0);
  ASSERT_EQ(cluster_.WaitForEnd(1).state(), v1::JOB_STATE_SUCCEEDED);
  Put("model.py", "VERSION = 'two'\n");
  ASSERT_EQ(cluster_.Cli({"clone", "1", "name=second"}).exit_code, 0);
  ASSERT_EQ(cluster_.Cli({"submit", JobFile(), "--set", "name=third"}).exit_code, 0);
  cluster_.WaitForEnd(2);
  cluster_.WaitForEnd(3);
  EXPECT_THAT(OutputOf(2, 0, 1), HasSubstr("version one"));
  EXPECT_THAT(OutputOf(3, 0, 1), HasSubstr("version two"));
  EXPECT_THAT(cluster_.Cli({"diff", "1", "2"}).output, HasSubstr("both jobs run the same code"));
  EXPECT_THAT(cluster_.Cli({"diff", "1", "3"}).output,
              HasSubstr("--- a/model.py\n+++ b/model.py\n@@ -1 +1 @@\n-VERSION = 'one'\n"
                        "+VERSION = 'two'\n"));
}

TEST_F(CodeTest, SurvivesRestartsOfControllerAndWorker) {
  ASSERT_EQ(cluster_.Cli({"submit", JobFile(), "--hold"}).exit_code, 0);
  cluster_.KillController();
  cluster_.StartController();
  cluster_.KillWorker(0);
  cluster_.StartWorker(0);
  std::ofstream(Go()) << "go";
  ASSERT_EQ(cluster_.Cli({"resume", "1"}).exit_code, 0);
  EXPECT_EQ(cluster_.WaitForEnd(1).state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(OutputOf(1, 1, 1), HasSubstr("version one"));
}

TEST_F(CodeTest, RunsInPlaceWithoutACopy) {
  std::ofstream(Go()) << "go";
  ASSERT_EQ(cluster_.Cli({"submit", JobFile(), "--set", "code.in_place=true"}).exit_code, 0);
  EXPECT_EQ(cluster_.WaitForEnd(1).state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(OutputOf(1, 0, 1), HasSubstr(absl::StrCat("in ", cluster_.directory(), "/source")));
}

TEST_F(CodeTest, RefusesBadTreesWithOneLineAndNoJob) {
  const auto refused = [&](const std::vector<std::string>& more, const std::string& reason) {
    std::vector<std::string> arguments = {"submit", JobFile()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = cluster_.Cli(arguments);
    EXPECT_NE(result.exit_code, 0) << reason;
    EXPECT_THAT(result.error, HasSubstr(reason));
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
  };
  refused({"--set", "code.max_size=100"}, "more than the 100 B of code.max_size");
  refused({"--set", "code.max_files=2"}, "has 4 files, more than the 2 of code.max_files");
  ASSERT_EQ(symlink("/etc/passwd", Source("link").c_str()), 0);
  refused({}, "the link link leads out of the code directory");
  std::filesystem::remove(Source("link"));
  Put("bad\xff", "x");
  refused({}, "the name is not UTF-8");
  std::filesystem::remove(Source("bad\xff"));
  const std::string unknown(64, 'a');
  refused({"--set", "code.snapshot=" + unknown}, "does not have the code snapshot aaaaaaaaaaaa");
  EXPECT_TRUE(cluster_.ListedJobs().empty());
}

// The controller's copy of the code is removed before the second node needs it.
TEST(CodeSharingTest, TheSecondNodeFetchesFromTheFirst) {
  MiniCluster cluster(0);
  for (const int node : {0, 1}) cluster.StartWorker(node, {"--code-listen", "127.0.0.1:0"});
  const std::string source = cluster.directory() + "/source";
  std::filesystem::create_directories(source);
  std::ofstream(source + "/train.py") << "print('version one')\n";
  std::ofstream(source + "/data.txt") << std::string(3'000'000, 'x');
  const std::string file = cluster.WriteJob(
      "shared", absl::StrCat("name: shared\ncommand: [python3, train.py]\ncode: {path: ", source,
                             "}\nresources: {device: cpu}\n"));
  const int64_t first = cluster.Submit(file, {"--set", "placement.nodes=[node0]"});
  ASSERT_EQ(cluster.WaitForEnd(first).state(), v1::JOB_STATE_SUCCEEDED) << cluster.DaemonLogs();
  const int64_t second = cluster.Submit(file, {"--set", "placement.nodes=[node1]", "--hold"});

  int packs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(cluster.directory() + "/controller/code")) {
    if (entry.path().extension() == ".pack") packs += std::filesystem::remove(entry.path());
  }
  ASSERT_GE(packs, 2) << "the manifest and the files";
  ASSERT_EQ(cluster.Cli({"resume", absl::StrCat(second)}).exit_code, 0);
  ASSERT_EQ(cluster.WaitForEnd(second).state(), v1::JOB_STATE_SUCCEEDED) << cluster.DaemonLogs();
  const std::vector<v1::LogLine> lines = cluster.Logs(second, 0, 1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].text(), "version one");
  const auto log_has = [&](const std::string& log, const std::string& part) {
    return Eventually([&] {
      return ReadFile(absl::StrCat(cluster.directory(), "/", log)).find(part) != std::string::npos;
    });
  };
  const std::string id = cluster.Job(second).spec().code().snapshot().substr(0, 12);
  EXPECT_TRUE(log_has("worker0.log", "fetched the code snapshot " + id + " from the controller"));
  EXPECT_TRUE(log_has("worker1.log", "fetched the code snapshot " + id + " from the node at 127"));
}

}  // namespace
}  // namespace trainyard::test
