// Tests `dev`, with shell scripts in place of the daemons.
#include "cli/dev/dev.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/process/child_process.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"
#include "tests/fakes/fake_token.h"

namespace trainyard::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Calls a function once: when the program flushes output that contains `text`. `dev` writes to
// stdout only once, when everything is ready.
class WatchedBuffer : public std::stringbuf {
 public:
  std::string text;
  std::function<void()> on_flush;

 private:
  int sync() override {
    const bool holds = !str().empty() && str().find(text) != std::string::npos;
    if (on_flush && holds) std::exchange(on_flush, nullptr)();
    return 0;
  }
};

class DevTest : public CliFixture {
 protected:
  DevTest() {
    for (int i = 0; i < 2; ++i) {
      answers().nodes.add_nodes()->set_state(v1::NODE_STATE_READY);
    }
    WriteProgram(
        "trainyard-controller",
        absl::StrCat("while [ $# -gt 0 ]; do\n  case $1 in --listen-file) file=$2 ;; esac\n",
                     "  shift\ndone\necho 127.0.0.1:7071 > \"$file.http\"\necho ",
                     server().address(), " > \"$file\"\n", Daemon("controller")));
    WriteProgram("trainyard-worker", Daemon("worker"));
    out_.rdbuf(&buffer_);
  }

  // Returns a script that runs until SIGTERM and records its start, its arguments and its end.
  std::string Daemon(const std::string& name) {
    return absl::StrCat("log=", directory(), "/order\n", "echo pid $$ >> $log\n", "trap 'echo ",
                        name, " stopped >> $log; exit 0' TERM\n", "echo ", name,
                        " says hello\nwhile :; do sleep 0.02; done\n");
  }

  void WriteProgram(const std::string& name, const std::string& body) {
    const std::string path =
        WriteFile(name, absl::StrCat("#!/bin/sh\necho \"$@\" >> ", directory(), "/arguments\n",
                                     name == "trainyard-controller" ? MakeToken() : "", body));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  // Creates a token, as the controller does at its first start.
  std::string MakeToken() {
    return absl::StrCat("umask 077; mkdir -p ", directory(), "/data/controller\n", "echo ",
                        FakeToken(), " > ", directory(), "/data/controller/token\n");
  }

  int RunDevWith(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"dev", "--data-dir", directory() + "/data"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    environment_.console.out = &out_;
    environment_.console.err = &err_;
    return RunTrainyard(arguments, environment_);
  }

  std::string Read(const std::string& name) {
    std::ifstream file(directory() + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void ExpectNothingLeft() {
    std::istringstream lines(Read("order"));
    std::string word;
    while (lines >> word) {
      int pid = 0;
      if (word != "pid" || !(lines >> pid)) continue;
      EXPECT_NE(kill(pid, 0), 0) << pid;
    }
  }

  // Returns a shell line that waits until `dev` reports readiness.
  std::string WaitUntilReady() {
    return absl::StrCat("while [ ! -e ", directory(), "/ready ]; do sleep 0.02; done\n");
  }

  // Returns a shell line that runs `what` only when the line is executed for the first time.
  std::string OnlyOnce(const std::string& what) {
    return absl::StrCat("if mkdir ", directory(), "/once 2>/dev/null; then ", what, "; fi\n");
  }

  void TellDaemonsWhenReady() {
    buffer_.on_flush = [this] { WriteFile("ready", ""); };
  }

  // Waits until all three daemons can handle SIGTERM. Each daemon prints its greeting after setting
  // its trap.
  void AwaitDaemons() {
    for (const char* log : {"controller", "node-1", "node-2"}) {
      const std::string name = absl::StrCat("data/logs/", log, ".log");
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (Read(name).find("says hello") == std::string::npos) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << name;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
  }

  // Simulates Ctrl-C as soon as stderr contains the text.
  void InterruptAfter(const std::string& text) {
    err_buffer_.text = text;
    err_buffer_.on_flush = [this] { interrupt_.Raise(); };
  }

  WatchedBuffer buffer_;
  std::ostream out_{nullptr};
  WatchedBuffer err_buffer_;
  std::ostream err_{&err_buffer_};
};

TEST_F(DevTest, StartsEverythingAndCtrlCStopsWorkersFirst) {
  buffer_.on_flush = [this] {
    AwaitDaemons();
    interrupt_.Raise();
  };
  EXPECT_EQ(RunDevWith({"--slots", "3", "--listen", "127.0.0.1:0"}), 0) << err_buffer_.str();
  EXPECT_THAT(buffer_.str(), HasSubstr(absl::StrCat("controller  ", server().address(), "\n")));
  EXPECT_THAT(buffer_.str(), HasSubstr("http://127.0.0.1:7071"));
  EXPECT_THAT(buffer_.str(), HasSubstr("2 with 3 CPU slots each"));
  EXPECT_THAT(err_buffer_.str(), HasSubstr("trainyard submit -f job.yaml --server"));
  const std::string arguments = Read("arguments");
  EXPECT_THAT(arguments, HasSubstr("--listen 127.0.0.1:0 --data-dir"));
  EXPECT_THAT(arguments, HasSubstr("--node-name node-2 --cpu-slots 3 --stop-ranks-on-exit"));
  EXPECT_THAT(Read("order"), HasSubstr("worker stopped\nworker stopped\ncontroller stopped\n"));
  EXPECT_THAT(Read("data/logs/node-1.log"), HasSubstr("worker says hello"));
  ExpectNothingLeft();
}

TEST_F(DevTest, TheDataDirectoryIsPrivate) {
  buffer_.on_flush = [this] { interrupt_.Raise(); };
  RunDevWith();
  const auto mode = std::filesystem::status(directory() + "/data").permissions();
  EXPECT_EQ(mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
            std::filesystem::perms::none);
}

TEST_F(DevTest, ASecondOneInTheSameDirectoryIsRefusedAndHarmsNothing) {
  std::filesystem::create_directories(directory() + "/data");
  WriteFile("data/controller.address", "the first one's\n");
  const int lock = open((directory() + "/data/dev.lock").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  EXPECT_EQ(RunDevWith(), 4);
  EXPECT_THAT(err_buffer_.str(), HasSubstr("another `trainyard dev` is running in"));
  EXPECT_EQ(Read("data/controller.address"), "the first one's\n");
  close(lock);
}

TEST_F(DevTest, AWorkerThatDiesIsStartedAgain) {
  WriteProgram("trainyard-worker",
               absl::StrCat(OnlyOnce(absl::StrCat(WaitUntilReady(), "exit 3")), Daemon("worker")));
  TellDaemonsWhenReady();
  InterruptAfter(" restarted, pid ");
  EXPECT_EQ(RunDevWith(), 0) << err_buffer_.str();
  EXPECT_THAT(err_buffer_.str(), ContainsRegex("node-[12] exited with 3; restarting it in"));
  EXPECT_THAT(err_buffer_.str(), ContainsRegex("node-[12] restarted, pid [0-9]+"));
  ExpectNothingLeft();
}

TEST_F(DevTest, AControllerThatDiesIsStartedAgainAtTheSameAddress) {
  const std::string serves = Read("trainyard-controller").substr(std::string("#!/bin/sh\n").size());
  const std::string stays = absl::StrCat("log=", directory(), "/order");
  const std::size_t end = serves.find(stays);
  ASSERT_NE(end, std::string::npos);
  WriteFile(
      "trainyard-controller",
      absl::StrCat("#!/bin/sh\n", serves.substr(0, end),
                   OnlyOnce(absl::StrCat(WaitUntilReady(), "kill -9 $$")), serves.substr(end)));
  TellDaemonsWhenReady();
  InterruptAfter("controller restarted");
  EXPECT_EQ(RunDevWith({"--listen", "127.0.0.1:0"}), 0) << err_buffer_.str();
  EXPECT_THAT(err_buffer_.str(), HasSubstr("controller ended by signal 9; restarting it in"));
  const std::string arguments = Read("arguments");
  EXPECT_THAT(arguments, HasSubstr("--listen 127.0.0.1:0 --data-dir"));
  EXPECT_THAT(arguments, HasSubstr(absl::StrCat("--listen ", server().address(), " --data-dir")));
  EXPECT_THAT(arguments, HasSubstr("--http-listen 127.0.0.1:7071"));
  ExpectNothingLeft();
}

TEST_F(DevTest, ADaemonThatDiesAgainAndAgainIsTheEnd) {
  environment_.dev_restarts.first_pause = std::chrono::milliseconds(1);
  environment_.dev_restarts.quick_deaths = 3;
  WriteProgram("trainyard-worker",
               absl::StrCat(WaitUntilReady(), "echo the disk is full >&2\nexit 3\n"));
  TellDaemonsWhenReady();
  EXPECT_EQ(RunDevWith({"--nodes", "1"}), 1);
  const std::string said = err_buffer_.str();
  const std::size_t first = said.find("node-1 exited with 3; restarting it in");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_NE(said.find("restarting it in", first + 60), std::string::npos) << said;
  EXPECT_THAT(said, HasSubstr("error: node-1 exited with 3; last lines:\n"));
  EXPECT_THAT(said, HasSubstr("the disk is full"));
  EXPECT_THAT(Read("order"), HasSubstr("controller stopped\n"));
  ExpectNothingLeft();
}

TEST_F(DevTest, ADaemonThatDiesBeforeAllAreReadyIsNamedAndTheOthersAreStopped) {
  answers().nodes.clear_nodes();  // No worker attaches.
  WriteProgram("trainyard-worker", "echo the disk is full >&2\nexit 3\n");
  EXPECT_EQ(RunDevWith(), 1);
  EXPECT_THAT(err_buffer_.str(), ContainsRegex("error: node-[12] exited with 3; last lines:\n"));
  EXPECT_THAT(err_buffer_.str(), HasSubstr("the disk is full"));
  EXPECT_THAT(err_buffer_.str(), ContainsRegex("node-[12].log"));
  EXPECT_THAT(err_buffer_.str(), Not(HasSubstr("restarting it")));
  EXPECT_THAT(Read("order"), HasSubstr("controller stopped\n"));
  ExpectNothingLeft();
}

TEST_F(DevTest, APortInUseIsTheControllersOwnMessage) {
  WriteProgram("trainyard-controller", "echo 127.0.0.1:7070 is in use >&2\nexit 1\n");
  EXPECT_EQ(RunDevWith(), 1);
  EXPECT_THAT(err_buffer_.str(), HasSubstr("controller exited with 1"));
  EXPECT_THAT(err_buffer_.str(), HasSubstr("127.0.0.1:7070 is in use"));
}

TEST_F(DevTest, ASiblingThatIsMissingIsSaid) {
  std::filesystem::remove(directory() + "/trainyard-worker");
  EXPECT_EQ(RunDevWith(), 3);
  EXPECT_THAT(err_buffer_.str(),
              HasSubstr("cannot start " + directory() + "/trainyard-worker: No such"));
  ExpectNothingLeft();
}

TEST_F(DevTest, ASecondCtrlCKillsWhatDoesNotStop) {
  WriteProgram("trainyard-worker", absl::StrCat("trap '' TERM\necho pid $$ >> ", directory(),
                                                "/order\nwhile :; do sleep 0.02; done\n"));
  buffer_.on_flush = [this] {
    interrupt_.Raise();
    interrupt_.Raise();
  };
  EXPECT_EQ(RunDevWith(), 0);
  EXPECT_THAT(err_buffer_.str(), HasSubstr("killing node-1"));
  ExpectNothingLeft();
}

TEST_F(DevTest, JsonTellsScriptsWhereEverythingIs) {
  buffer_.on_flush = [this] { interrupt_.Raise(); };
  EXPECT_EQ(RunDevWith({"-o", "json"}), 0);
  const nlohmann::json told = nlohmann::json::parse(buffer_.str());
  EXPECT_EQ(told["server"], server().address());
  EXPECT_EQ(told["dashboard"], "http://127.0.0.1:7071");
  EXPECT_GT(told["pids"]["controller"], 0);
  EXPECT_GT(told["pids"]["node-2"], 0);
}

TEST(ChildProcessTest, LastLinesAreTheLastLines) {
  std::string pattern = "/tmp/trainyard-tail-XXXXXX";
  const int fd = mkstemp(pattern.data());
  ASSERT_GE(fd, 0);
  close(fd);
  EXPECT_EQ(LastLines(pattern, 2), "");
  std::ofstream(pattern) << "one\ntwo\nthree\n";
  EXPECT_EQ(LastLines(pattern, 2), "two\nthree");
  EXPECT_EQ(LastLines(pattern, 9), "one\ntwo\nthree");
  EXPECT_EQ(LastLines(pattern + "-none", 2), "");
  EXPECT_EQ(LastLines(pattern, 1), "three");
  EXPECT_EQ(LastLines(pattern, 0), "");
  std::ofstream(pattern, std::ios::trunc) << "\nabc\n";
  EXPECT_EQ(LastLines(pattern, 1), "abc");
  EXPECT_EQ(LastLines(pattern, 2), "\nabc");
  std::filesystem::remove(pattern);
}

}  // namespace
}  // namespace trainyard::cli
