// Tests a program of a user from its submission to its end: its code, its Python environment, one
// launcher on each of two nodes, a killed rank, the resume, and what the command line and the page
// show. The launcher is PyTorch's if Debian's python3-torch is installed, else the stand-in of
// tests/programs.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/integration/http_calls.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Prints nanoGPT's lines, saves every 50 steps on rank 0, resumes, and ends when the file in $STOP
// exists.
constexpr char kTrain[] = R"(import os, sys, time
from model import VERSION, loss_of
rank = int(os.environ["RANK"])
resume = os.environ.get("TRAINYARD_RESUME_FROM", "")
start = int(open(resume).read()) if resume else 0
with open(os.path.join(os.environ["TRAINYARD_RUN_DIR"], f"pid{rank}"), "w") as file:
    file.write(str(os.getpid()))
print("version", VERSION, "from", start, "prefix", sys.prefix, flush=True)
step = start
while not os.path.exists(os.environ["STOP"]):
    step += 1
    time.sleep(0.02)
    print(f"iter {step}: loss {loss_of(step)}, time 20.00ms", flush=True)
    if rank == 0 and step % 50 == 0:
        path = os.path.join(os.environ["TRAINYARD_CHECKPOINT_DIR"], f"ckpt_{step}.pt")
        with open(path + ".tmp", "w") as file:
            file.write(str(step))
        os.rename(path + ".tmp", path)
)";

class OwnProgramTest : public testing::Test {
 protected:
  OwnProgramTest() {
    std::filesystem::create_directories(PathOf("source"));
    Put("train.py", kTrain);
    Put("model.py",
        "VERSION = 'one'\ndef loss_of(step):\n    return 4 - 3 * step / (step + 100)\n");
  }

  std::string PathOf(const std::string& name) const {
    return absl::StrCat(cluster_.directory(), "/", name);
  }
  void Put(const std::string& name, const std::string& text) const {
    std::ofstream(PathOf("source/" + name), std::ios::trunc) << text;
  }

  // Makes a virtual environment that sees Debian's packages.
  std::string MakeVenv() const {
    const CommandResult made = RunCommand({"/usr/bin/python3", "-m", "venv", "--without-pip",
                                           "--system-site-packages", PathOf("venv")});
    return made.exit_code == 0 ? PathOf("venv") : "";
  }

  // Returns the launcher's words of the command.
  std::string Launcher() const {
    const bool has_torch =
        RunCommand({"/usr/bin/python3", "-c", "import torch.distributed.run"}).exit_code == 0;
    if (has_torch) return "-m, torch.distributed.run";
    std::filesystem::copy_file(absl::StrCat(SOURCE_ROOT, "/tests/programs/small_launcher.py"),
                               PathOf("source/small_launcher.py"));
    return "small_launcher.py";
  }

  int64_t SubmitJob(const std::string& venv) {
    return cluster_.Submit(cluster_.WriteJob(
        "own", absl::StrCat("name: own\ncommand: [python, ", Launcher(), ", train.py]\n",
                            "code: {path: source}\nenvironment: {venv: ", venv, "}\n",
                            "launch: {processes_per_node: 1}\nlog_parser: {kind: nanogpt}\n",
                            "checkpoint: {watch: 'ckpt_*.pt', step: 'ckpt_(\\d+)'}\n",
                            "restart: {backoff: 100ms}\nenv: {STOP: ", PathOf("stop"), "}\n",
                            "resources: {nodes: 2, slots_per_node: 2, device: cpu}\n")));
  }

  std::string OutputOf(int64_t job_id, int rank, int64_t attempt) const {
    std::string text;
    for (const v1::LogLine& line : cluster_.Logs(job_id, rank, attempt)) {
      absl::StrAppend(&text, line.text(), "\n");
    }
    return text;
  }

  // Returns the document from which the page is made.
  nlohmann::json Page(const std::string& path) const {
    const std::string token = FirstLine(ReadFile(PathOf("controller/token")));
    const HttpAnswer answer =
        Http("GET", HttpUrl(cluster_, path), {"Authorization: Bearer " + token});
    EXPECT_EQ(answer.status, 200) << answer.text;
    return nlohmann::json::parse(answer.text, nullptr, false);
  }

  // Kills the process of rank 3, below the launcher on the second node.
  void KillRank3(const std::string& job, const std::string& venv) const {
    const CommandResult killed =
        cluster_.Cli({"exec", job + ".3", "--", "sh", "-c",
                      "python -c 'import sys; print(sys.prefix)'; test -f train.py && "
                      "kill -KILL $(cat $TRAINYARD_RUN_DIR/pid3)"});
    EXPECT_EQ(killed.exit_code, 0) << killed.error;
    EXPECT_EQ(killed.output, venv + "\n") << "exec has the environment and the code of the rank";
  }

  void CheckCommandLine(const std::string& job, const v1::Job& ended) const {
    const std::string described = cluster_.Cli({"describe", job}).output;
    EXPECT_THAT(described,
                AllOf(HasSubstr("snapshot " + ended.spec().code().snapshot().substr(0, 12)),
                      HasSubstr("Environment of attempt 2"), HasSubstr("rank 3 on"),
                      HasSubstr("ran `sh -c "), HasSubstr("beside rank 3 of attempt 1")));
    EXPECT_THAT(cluster_.Cli({"why", job}).output, HasSubstr("all 4 ranks exited with 0"));
    const std::vector<std::string> rows =
        absl::StrSplit(cluster_.Cli({"metrics", job, "loss", "-o", "csv"}).output, '\n');
    EXPECT_GT(rows.size(), 100u);
  }

  void CheckPage(const std::string& job, const v1::Job& ended, const std::string& venv) const {
    const nlohmann::json page = Page("/api/v1/jobs/" + job);
    EXPECT_EQ(page["job"]["state"], "succeeded") << page.dump(1);
    EXPECT_EQ(page["job"]["attempts"][0]["verdict"]["rank"], 3);
    EXPECT_EQ(page["job"]["attempts"][1]["resume_step"], ended.attempts(1).resume_step());
    EXPECT_EQ(page["job"]["environment"]["attempt"], 2);
    EXPECT_THAT(page["job"]["environment"]["interpreter"].get<std::string>(), StartsWith(venv));
    EXPECT_EQ(page["job"]["spec"]["code"]["snapshot"], ended.spec().code().snapshot());
    double seconds = 0;
    for (const auto& phase : page["ledger"]["phases"]) seconds += phase.value("seconds", 0.0);
    EXPECT_NEAR(seconds, page["ledger"].value("wall_seconds", 0.0), 0.01) << page["ledger"].dump(1);
  }

  MiniCluster cluster_{2, 2};
};

TEST_F(OwnProgramTest, IsKilledResumedAndShownRightly) {
  const std::string venv = MakeVenv();
  if (venv.empty()) GTEST_SKIP() << "Python's module venv is not installed (python3-venv)";
  const int64_t id = SubmitJob(venv);
  const std::string job = absl::StrCat(id);
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(id).checkpoints_size() > 0; }))
      << OutputOf(id, 0, 1) << cluster_.DaemonLogs();
  // A later change of the directory must not reach the job.
  Put("model.py", "VERSION = 'two'\n");

  KillRank3(job, venv);
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(id).attempts_size() == 2; }));
  const int64_t resume_step = cluster_.Job(id).attempts(1).resume_step();
  EXPECT_GE(resume_step, 50);
  ASSERT_TRUE(cluster_.WaitForStep(id, resume_step + 100));
  std::ofstream(PathOf("stop")) << "stop";
  const v1::Job ended = cluster_.WaitForEnd(id, Seconds(60));
  ASSERT_EQ(ended.state(), v1::JOB_STATE_SUCCEEDED) << ended.DebugString();

  for (const int rank : {0, 2}) {
    EXPECT_THAT(OutputOf(id, rank, 2),
                HasSubstr(absl::StrCat("version one from ", resume_step, " prefix ", venv)));
  }
  const v1::Verdict& verdict = ended.attempts(0).verdict();
  EXPECT_EQ(verdict.rank(), 3) << verdict.DebugString();
  EXPECT_THAT(verdict.summary(), HasSubstr("rank 3 on"));
  EXPECT_EQ(ended.attempts_size(), 2);

  // The curve has every step once, and the steps after the checkpoint were trained again.
  const auto loss = cluster_.Series(id, "loss");
  ASSERT_FALSE(loss.empty());
  EXPECT_EQ(loss.begin()->first, 1);
  EXPECT_EQ(static_cast<int64_t>(loss.size()), loss.rbegin()->first) << "a step is missing";
  EXPECT_DOUBLE_EQ(loss.at(100), 2.5);
  EXPECT_GT(ended.attempts(0).last_step(), resume_step);
  CheckCommandLine(job, ended);
  CheckPage(job, ended, venv);
}

}  // namespace
}  // namespace trainyard::test
