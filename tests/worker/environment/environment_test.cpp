// Runs real programs in real environments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/fakes/temporary_directory.h"
#include "worker/environment/captured_program.h"
#include "worker/environment/node_setup.h"
#include "worker/process/program_path.h"

namespace trainyard::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;

constexpr milliseconds kStepLimit{60'000};

class EnvironmentTest : public testing::Test {
 protected:
  EnvironmentTest() {
    options_.state_dir = absl::StrCat(directory_.path(), "/environments");
    options_.setup_timeout_s = 60;
    variables_ = OwnVariables();
    variables_.erase("MODULESHOME");
  }

  std::string PathOf(const std::string& name) const {
    return absl::StrCat(directory_.path(), "/", name);
  }

  std::string Write(const std::string& name, const std::string& text, bool executable = false) {
    std::filesystem::create_directories(std::filesystem::path(PathOf(name)).parent_path());
    std::ofstream(PathOf(name)) << text;
    if (executable) chmod(PathOf(name).c_str(), 0755);
    return PathOf(name);
  }

  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(PathOf(name)).rdbuf();
    return text.str();
  }

  // Runs the command in the environment of options_. The text has stdout and stderr.
  CapturedOutput RunIn(const std::vector<std::string>& command) const {
    return RunIn(options_, command);
  }

  CapturedOutput RunIn(EnvironmentOptions options, const std::vector<std::string>& command) const {
    options.command = command;
    std::vector<std::string> words = {"sh", "-c", "exec \"$@\" 2>&1", "sh", ENVIRONMENT_PROGRAM};
    for (const std::string& word : EnvironmentArguments(options)) words.push_back(word);
    const absl::StatusOr<CapturedOutput> output = Capture(words, variables_, kStepLimit, 1 << 20);
    EXPECT_TRUE(output.ok()) << output.status();
    return output.value_or(CapturedOutput{-1, ""});
  }

  // Writes a module system whose module NAME runs the file modules/NAME.
  void WriteModuleSystem() {
    Write("modulesystem/init/bash",
          absl::StrCat("module() { echo \"loading $2\"; . ", PathOf("modules"), "/$2; }\n"));
    variables_["MODULESHOME"] = PathOf("modulesystem");
  }

  // Makes a virtual environment, or, without the Python module `venv`, a directory like one.
  std::string MakeVenv() {
    const std::string venv = PathOf("venv");
    const auto made =
        Capture({"python3", "-m", "venv", "--without-pip", venv}, variables_, kStepLimit, 1 << 20);
    if (made.ok() && made->exit_code == 0) return venv;
    Write("venv/bin/python", "#!/bin/sh\nexec python3 \"$@\"\n", true);
    Write("venv/pyvenv.cfg", "home = /usr/bin\n");
    return venv;
  }

  TemporaryDirectory directory_;
  EnvironmentOptions options_;
  Variables variables_;
};

TEST_F(EnvironmentTest, TheProgramRunsInTheVirtualEnvironment) {
  options_.venv = MakeVenv();
  const CapturedOutput output = RunIn({"sh", "-c", "command -v python; echo $VIRTUAL_ENV; exit 7"});
  EXPECT_EQ(output.exit_code, 7);
  EXPECT_EQ(output.text, absl::StrCat(options_.venv, "/bin/python\n", options_.venv, "\n"));
}

TEST_F(EnvironmentTest, TheReportNamesTheInterpreterOfTheVirtualEnvironment) {
  options_.venv = MakeVenv();
  options_.records = true;
  variables_["TRAINYARD_TELEMETRY"] = Write("telemetry.jsonl", "");
  EXPECT_EQ(RunIn({"python", "-c", "pass"}).exit_code, 0);
  EXPECT_THAT(Read("telemetry.jsonl"), HasSubstr("\"type\":\"environment\""));
  EXPECT_THAT(Read("telemetry.jsonl"), HasSubstr("/python"));
  EXPECT_THAT(Read("telemetry.jsonl"), HasSubstr("\"problem\":\"\""));
}

TEST_F(EnvironmentTest, AMissingEnvironmentIsNamed) {
  options_.venv = PathOf("none");
  CapturedOutput output = RunIn({"true"});
  EXPECT_EQ(output.exit_code, 127);
  EXPECT_THAT(output.text, HasSubstr(absl::StrCat("error: there is no virtual environment ",
                                                  options_.venv, " on this node")));
  options_.venv = "";
  options_.conda = PathOf("none");
  output = RunIn({"true"});
  EXPECT_EQ(output.exit_code, 127);
  EXPECT_THAT(output.text, HasSubstr("there is no conda environment"));
}

TEST_F(EnvironmentTest, ActivatesAConda) {
  Write("conda/conda-meta/history", "");
  Write("conda/bin/mine", "#!/bin/sh\necho $CONDA_PREFIX\n", true);
  options_.conda = PathOf("conda");
  EXPECT_EQ(RunIn({"mine"}).text, absl::StrCat(options_.conda, "\n"));
}

TEST_F(EnvironmentTest, AMissingProgramIsNamed) {
  const CapturedOutput output = RunIn({"no-such-program"});
  EXPECT_EQ(output.exit_code, 127);
  EXPECT_THAT(output.text, HasSubstr("error: no program `no-such-program` in PATH"));
  EXPECT_EQ(RunIn({Write("plain", "text")}).exit_code, 126);
}

TEST_F(EnvironmentTest, ModulesPrecedeTheEnvironmentAndTheSetup) {
  WriteModuleSystem();
  Write("modules/a", "export A=1 PATH=/of/a:$PATH\n");
  Write("modules/b", "export B=\"$A\n2\"\n");
  options_.modules = {"a", "b"};
  options_.venv = MakeVenv();
  options_.setup = {"sh", "-c", "echo setup $A $B $PATH"};
  const CapturedOutput output = RunIn({"sh", "-c", "echo run $A $B"});
  EXPECT_EQ(output.exit_code, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("loading a\nloading b\n"));
  EXPECT_THAT(output.text, HasSubstr(absl::StrCat("\nsetup 1 1 2 ", options_.venv, "/bin:/of/a:")));
  EXPECT_THAT(output.text, HasSubstr("\nrun 1 1 2\n"));
}

TEST_F(EnvironmentTest, AModuleThatCannotBeLoadedIsNamed) {
  WriteModuleSystem();
  Write("modules/bad", "return 1\n");
  options_.modules = {"bad"};
  const CapturedOutput output = RunIn({"true"});
  EXPECT_EQ(output.exit_code, 127);
  EXPECT_THAT(output.text, HasSubstr("error: modules: cannot load bad on this node"));
}

TEST_F(EnvironmentTest, NamesOfModulesAreNotEvaluated) {
  WriteModuleSystem();
  options_.modules = {"$(touch " + PathOf("made") + ")"};
  EXPECT_EQ(RunIn({"true"}).exit_code, 127);
  EXPECT_FALSE(std::filesystem::exists(PathOf("made")));
}

TEST_F(EnvironmentTest, TheSetupRunsOncePerNode) {
  options_.setup = {"sh", "-c", "echo started; sleep 0.3; echo x >> " + PathOf("runs")};
  std::vector<std::thread> ranks;
  std::vector<CapturedOutput> outputs(3);
  for (CapturedOutput& output : outputs) {
    ranks.emplace_back([&] { output = RunIn({"cat", PathOf("runs")}); });
  }
  for (std::thread& rank : ranks) rank.join();
  int started = 0;
  for (const CapturedOutput& output : outputs) {
    EXPECT_EQ(output.exit_code, 0);
    EXPECT_TRUE(output.text.ends_with("x\n")) << "the setup is complete: " << output.text;
    if (output.text.find("started") != std::string::npos) ++started;
  }
  EXPECT_EQ(started, 1);
  EXPECT_EQ(RunIn({"true"}).text, "");
  EXPECT_EQ(Read("runs"), "x\n");
}

TEST_F(EnvironmentTest, RanksInTheirOwnRunDirectoriesShareTheSetup) {
  options_.setup = {"sh", "-c", "echo x >> " + PathOf("runs")};
  const std::filesystem::path before = std::filesystem::current_path();
  for (const char* name : {"rank0", "rank1"}) {
    std::filesystem::create_directory(PathOf(name));
    std::filesystem::current_path(PathOf(name));
    variables_["TRAINYARD_RUN_DIR"] = PathOf(name);
    EXPECT_EQ(RunIn({"true"}).exit_code, 0);
  }
  EXPECT_EQ(Read("runs"), "x\n");
  variables_.erase("TRAINYARD_RUN_DIR");
  EXPECT_EQ(RunIn({"true"}).exit_code, 0);
  EXPECT_EQ(Read("runs"), "x\nx\n") << "another working directory";
  std::filesystem::current_path(before);
}

TEST_F(EnvironmentTest, TheSetupRunsAgainIfAFileChangesThatItNames) {
  const std::string list = Write("requirements.txt", "a\n");
  options_.setup = {"sh", "-c", "cat $0 >> " + PathOf("runs"), list};
  RunIn({"true"});
  RunIn({"true"});
  EXPECT_EQ(Read("runs"), "a\n");
  Write("requirements.txt", "b\n");
  RunIn({"true"});
  EXPECT_EQ(Read("runs"), "a\nb\n");
}

TEST_F(EnvironmentTest, OldMarksAndLocksAreRemoved) {
  namespace fs = std::filesystem;
  const fs::file_time_type long_ago = fs::file_time_type::clock::now() - std::chrono::hours(100);
  const auto write_old = [&](const std::string& name) {
    fs::last_write_time(Write("environments/" + name, ""), long_ago);
  };
  for (std::size_t i = 0; i < kMaxSetupMarks; ++i) {
    write_old(absl::StrCat(i, ".done"));
    write_old(absl::StrCat(i, ".lock"));
  }
  write_old("failed.lock");
  options_.setup = {"true"};
  EXPECT_EQ(RunIn({"true"}).exit_code, 0);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(options_.state_dir)) {
    EXPECT_NE(entry.path().filename(), "failed.lock");
    ++files;
  }
  EXPECT_EQ(files, 2 * kMaxSetupMarks);
}

TEST_F(EnvironmentTest, AFailedSetupEndsTheRankAndRunsAgain) {
  options_.setup = {"sh", "-c", "echo broken; echo x >> " + PathOf("runs") + "; exit 3"};
  const CapturedOutput output = RunIn({"echo", "not reached"});
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.text,
              HasSubstr("broken\ntrainyard: error: the setup failed with exit code 3"));
  EXPECT_THAT(output.text, Not(HasSubstr("not reached\n")));
  RunIn({"true"});
  EXPECT_EQ(Read("runs"), "x\nx\n");
  options_.setup = {"no-such-program"};
  EXPECT_EQ(RunIn({"true"}).exit_code, 127);
}

TEST_F(EnvironmentTest, AHangingSetupIsKilledWithItsProcesses) {
  options_.setup = {"sh", "-c", "sleep 50 & echo $! > " + PathOf("pid") + "; wait"};
  options_.setup_timeout_s = 1;
  const auto start = steady_clock::now();
  const CapturedOutput output = RunIn({"true"});
  EXPECT_EQ(output.exit_code, 124);
  EXPECT_THAT(output.text, HasSubstr("environment.setup_timeout"));
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(20));
  const std::string process = absl::StrCat("/proc/", std::stoi(Read("pid")), "/cmdline");
  const auto is_alive = [&] {
    // A process that was killed but not reaped yet has an empty command line.
    std::ostringstream text;
    text << std::ifstream(process).rdbuf();
    return !text.str().empty();
  };
  const auto deadline = steady_clock::now() + kStepLimit;
  while (is_alive() && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_FALSE(is_alive());
}

TEST_F(EnvironmentTest, ARankWaitsAtMostTheTimeoutForAnotherRank) {
  const std::string started = PathOf("started");
  options_.setup = {"sh", "-c", "touch " + started + "; sleep 4"};
  std::thread first([this, own = options_] { RunIn(own, {"true"}); });
  const auto deadline = steady_clock::now() + kStepLimit;
  while (!std::filesystem::exists(started) && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  options_.setup_timeout_s = 1;
  const CapturedOutput output = RunIn({"true"});
  first.join();
  EXPECT_EQ(output.exit_code, 124);
  EXPECT_THAT(output.text, HasSubstr("waiting for the setup by another rank of this node"));
  EXPECT_THAT(output.text, HasSubstr("another rank of this node did not complete the setup"));
}

TEST_F(EnvironmentTest, TheLauncherStartsTheProgram) {
  Write("bin/podman", "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 5\n", true);
  variables_["PATH"] = absl::StrCat(PathOf("bin"), ":", variables_["PATH"]);
  variables_["SECRET"] = "hidden";
  options_.launcher = "podman";
  options_.image = "image";
  const CapturedOutput output = RunIn({"train", "a b"});
  EXPECT_EQ(output.exit_code, 5);
  EXPECT_TRUE(output.text.starts_with("run\n--rm\n")) << output.text;
  EXPECT_TRUE(output.text.ends_with("\nimage\ntrain\na b\n")) << output.text;
  EXPECT_THAT(output.text, HasSubstr("\n--env=SECRET\n"));
  EXPECT_THAT(output.text, Not(HasSubstr("hidden")));
}

TEST_F(EnvironmentTest, AMissingLauncherIsNamed) {
  options_.launcher = "enroot";
  options_.image = "image";
  if (FindProgram("enroot", variables_).ok()) GTEST_SKIP() << "enroot is installed";
  const CapturedOutput output = RunIn({"true"});
  EXPECT_EQ(output.exit_code, 127);
  EXPECT_THAT(output.text, HasSubstr("error: no program `enroot` in PATH"));
}

TEST_F(EnvironmentTest, ArgumentsOfAnotherReleaseAreRefused) {
  const auto output =
      Capture({ENVIRONMENT_PROGRAM, "--unknown=1", "--", "true"}, variables_, kStepLimit, 1 << 20);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->exit_code, 64);
}

}  // namespace
}  // namespace trainyard::worker
