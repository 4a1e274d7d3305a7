// Tests `trainyard-data run` with several processes and with kills.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "proto/files/unique_fd.h"
#include "tests/data/pipeline/pipeline_files.h"

namespace trainyard::cli {
namespace {

using data::PipelineFiles;
using testing::Each;
using testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(120);

// A run of trainyard-data. The destructor kills it.
class DataRun {
 public:
  DataRun(const PipelineFiles& files, std::vector<std::string> environment, const std::string& name)
      : output_(files / name) {
    std::vector<std::string> arguments = {TRAINYARD_DATA_PROGRAM, "run", files.pipeline()};
    std::vector<char*> argv;
    std::vector<char*> envp;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    for (std::string& variable : environment) envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    EXPECT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data()), 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  ~DataRun() {
    if (pid_ == 0) return;
    Kill(SIGKILL);
    Wait();
  }
  DataRun(const DataRun&) = delete;

  void Kill(int signal) const { kill(pid_, signal); }
  // Kills the process if it does not end in time.
  void KillAfter(std::chrono::seconds limit) const {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!HasEnded()) {
      if (std::chrono::steady_clock::now() > end) return Kill(SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  bool HasEnded() const {
    siginfo_t info{};
    return waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
  }
  // Returns the exit code, or the negative number of a signal.
  int Wait() {
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string Output() const { return ReadFile(output_); }

 private:
  const std::string output_;
  pid_t pid_ = 0;
};

int FreePort() {
  const UniqueFd socket_fd(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(socket_fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(socket_fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

using Gang = std::vector<std::unique_ptr<DataRun>>;

// Starts a process per rank.
Gang StartGang(const PipelineFiles& files, int ranks) {
  const std::string port = std::to_string(FreePort());
  Gang gang;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string name = "rank" + std::to_string(rank);
    gang.push_back(std::make_unique<DataRun>(
        files,
        std::vector<std::string>{"RANK=" + std::to_string(rank),
                                 "WORLD_SIZE=" + std::to_string(ranks), "MASTER_ADDR=127.0.0.1",
                                 "MASTER_PORT=" + port, "OMP_NUM_THREADS=1",
                                 "TRAINYARD_TELEMETRY=" + files / (name + ".telemetry")},
        name));
  }
  return gang;
}

std::vector<int> Wait(const Gang& gang) {
  std::vector<int> codes;
  for (const auto& rank : gang) codes.push_back(rank->Wait());
  return codes;
}

int RunAlone(const PipelineFiles& files, const std::string& settings) {
  files.Write(files.Text() + settings);
  return DataRun(files, {}, "output").Wait();
}

void WaitUntil(const std::function<bool()>& is_met, const std::string& what) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_met()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << what;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void WaitForFile(const std::string& path) {
  WaitUntil([&] { return std::filesystem::exists(path); }, path);
}

class RunTest : public testing::Test {
 protected:
  // Runs the pipeline in one process with one thread.
  RunTest() {
    EXPECT_EQ(RunAlone(files_, "jobs: 1\n"), 0) << ReadFile(files_ / "output");
    expected_ = files_.Contents();
    Delete();
    files_.Write(files_.Text());
  }
  void Delete() const { std::filesystem::remove_all(files_.out()); }

  const PipelineFiles files_;
  std::map<std::string, std::string> expected_;
};

TEST_F(RunTest, TheOutputDoesNotDependOnThreads) {
  for (const char* jobs : {"jobs: 2\n", "jobs: 7\n"}) {
    EXPECT_EQ(RunAlone(files_, jobs), 0);
    EXPECT_EQ(files_.Contents(), expected_) << jobs;
    Delete();
  }
}

TEST_F(RunTest, ThreeRanksWriteTheSameBytes) {
  const Gang gang = StartGang(files_, 3);
  EXPECT_THAT(Wait(gang), Each(0)) << gang[0]->Output();
  EXPECT_EQ(files_.Contents(), expected_);
  const std::string telemetry = ReadFile(files_ / "rank0.telemetry");
  EXPECT_THAT(telemetry, HasSubstr("\"pipeline_steps\":8"));
  EXPECT_THAT(telemetry, HasSubstr("\"phase\":\"done\""));
  for (const char* phase : {"load", "blocks", "decide", "merge", "assemble"}) {
    EXPECT_THAT(telemetry, HasSubstr("\"phase\":\"" + std::string(phase) + "\""));
  }
  // Other ranks may connect too late to get a block. So only these phases are certain.
  const std::string other = ReadFile(files_ / "rank2.telemetry");
  for (const char* phase : {"wait", "done"}) {
    EXPECT_THAT(other, HasSubstr("\"phase\":\"" + std::string(phase) + "\""));
  }
}

TEST_F(RunTest, TheOthersContinueWithoutALostRank) {
  const Gang gang = StartGang(files_, 3);
  WaitForFile(files_.out() + "/.work/dedup-signatures/signatures-00002.bin");
  gang[2]->Kill(SIGKILL);
  EXPECT_THAT(Wait(gang), testing::ElementsAre(0, 0, -SIGKILL)) << gang[0]->Output();
  EXPECT_EQ(files_.Contents(), expected_);
}

TEST_F(RunTest, TheEndOfRankZeroEndsTheOthers) {
  // Enough documents that every rank gets blocks.
  for (uint64_t i = 0; i < 20; ++i) {
    files_.AddInput("more-" + std::to_string(i) + ".jsonl", 100 + i);
  }
  Delete();
  ASSERT_EQ(RunAlone(files_, "jobs: 1\n"), 0) << ReadFile(files_ / "output");
  expected_ = files_.Contents();
  const auto has_blocks = [&](const std::string& rank) {
    const std::string telemetry = files_ / ("rank" + rank + ".telemetry");
    return std::filesystem::exists(telemetry) &&
           ReadFile(telemetry).find("\"phase\":\"blocks\"") != std::string::npos;
  };
  // Rank 0 may end before it is killed.
  std::vector<int> codes;
  std::string output;
  for (int trial = 0; trial < 5 && codes != std::vector<int>{-SIGKILL, 69, 69}; ++trial) {
    Delete();
    for (const char* rank : {"1", "2"}) {
      std::filesystem::remove(files_ / (std::string("rank") + rank + ".telemetry"));
    }
    const Gang gang = StartGang(files_, 3);
    WaitUntil([&] { return (has_blocks("1") && has_blocks("2")) || gang[0]->HasEnded(); }, "work");
    gang[0]->Kill(SIGKILL);
    for (const auto& rank : gang) rank->KillAfter(std::chrono::seconds(5));
    codes = Wait(gang);
    output = gang[1]->Output();
  }
  EXPECT_THAT(codes, testing::ElementsAre(-SIGKILL, 69, 69));
  EXPECT_THAT(output, HasSubstr("lost the connection to rank 0"));
  EXPECT_THAT(Wait(StartGang(files_, 3)), Each(0));
  EXPECT_EQ(files_.Contents(), expected_);
}

// A rank of a job that does not see the output of rank 0.
TEST_F(RunTest, ARankWithoutTheSharedDirectoryIsRefused) {
  const std::string port = std::to_string(FreePort());
  const auto rank = [&](const PipelineFiles& files, const char* number) {
    return std::make_unique<DataRun>(
        files,
        std::vector<std::string>{std::string("RANK=") + number, "WORLD_SIZE=2",
                                 "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port},
        "output");
  };
  const PipelineFiles others;  // the same settings below another directory
  const auto leader = rank(files_, "0");
  others.Write(others.Text());
  const auto follower = rank(others, "1");
  EXPECT_EQ(follower->Wait(), 75) << follower->Output();
  EXPECT_THAT(follower->Output(), HasSubstr("on storage that all nodes share"));
  EXPECT_EQ(leader->Wait(), 0) << leader->Output();
}

TEST_F(RunTest, ARequestToStopExitsWith143) {
  const Gang gang = StartGang(files_, 2);
  WaitForFile(files_.out() + "/filter/part-00000.jsonl.zst");
  for (const auto& rank : gang) rank->Kill(SIGTERM);
  const std::vector<int> codes = Wait(gang);
  EXPECT_EQ(codes[0], 143) << gang[0]->Output();
  // The end of rank 0 may reach rank 1 before it handles its signal.
  EXPECT_TRUE(codes[1] == 143 || codes[1] == 69) << gang[1]->Output();
}

TEST_F(RunTest, ContinuesAfterAKillInEachStage) {
  for (const char* file :
       {"filter/part-00001.jsonl.zst", ".work/dedup-signatures/signatures-00001.bin",
        ".work/dedup-shingles/shingles-00001.bin", ".work/dedup-decisions/0.json",
        "dedup/part-00001.jsonl.zst", "decontaminate/part-00001.jsonl.zst",
        ".work/train_tokenizer-words/words-00001.bin", "train_tokenizer/tokenizer.json",
        "count/records.log", ".work/tokenize-train/encoded-00001.bin",
        ".work/code-train/encoded-00001.bin"}) {
    {
      DataRun run(files_, {}, "output");
      WaitForFile(files_.out() + "/" + file);
      run.Kill(SIGKILL);
      EXPECT_EQ(run.Wait(), -SIGKILL) << file;
    }
    EXPECT_EQ(DataRun(files_, {}, "output").Wait(), 0) << ReadFile(files_ / "output");
    EXPECT_EQ(files_.Contents(), expected_) << file;
    Delete();
  }
}

TEST_F(RunTest, WrongSettingsHaveTheCodesOfTheCaller) {
  files_.Write("inputs: in\n");
  EXPECT_EQ(DataRun(files_, {}, "output").Wait(), 2);
  EXPECT_EQ(DataRun(files_, {"RANK=0", "WORLD_SIZE=1"}, "output").Wait(), 78);
  EXPECT_THAT(ReadFile(files_ / "output"), HasSubstr("`out` is missing"));
  EXPECT_EQ(DataRun(files_, {"RANK=5", "WORLD_SIZE=2"}, "output").Wait(), 78);
}

}  // namespace
}  // namespace trainyard::cli
