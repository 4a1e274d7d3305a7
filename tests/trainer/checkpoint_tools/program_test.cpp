// The program trainyard-ckpt as a user meets it, on checkpoints of the real trainer.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Losses = std::map<int64_t, double>;

std::string TextOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Two ranks that own half of the optimizer's state each train to step 20, and keep every
// checkpoint.
class CheckpointProgramTest : public testing::Test {
 protected:
  CheckpointProgramTest() {
    folder_.spec["checkpoint"]["keep_last"] = 10;
    folder_.spec["layout"]["zero"] = 1;
    losses_ = TrainToTheEnd(folder_, {.world_size = 2, .run = "a", .checkpoints = "a"});
  }

  std::string Path(const std::string& name) const { return folder_.path() / name; }

  // Runs the program to its end and returns its exit code.
  int Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), CHECKPOINT_PROGRAM);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&files, 1, Path("stdout").c_str(), kFlags, 0600);
    posix_spawn_file_actions_addopen(&files, 2, Path("stderr").c_str(), kFlags, 0600);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
    int status = 0;
    waitpid(child, &status, 0);
    out_ = TextOf(Path("stdout"));
    err_ = TextOf(Path("stderr"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // Expects the exit code, and one line on stderr with `part` in it.
  void ExpectFails(const std::vector<std::string>& arguments, int code, const std::string& part) {
    EXPECT_EQ(Run(arguments), code) << err_;
    EXPECT_EQ(out_, "");
    EXPECT_THAT(err_, testing::AllOf(StartsWith("error: "), HasSubstr(part), EndsWith("\n")));
    EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
  }

  // The losses of two ranks that go on from a checkpoint.
  Losses ResumeFrom(const std::string& checkpoint, const std::string& run) {
    return TrainToTheEnd(folder_, {.world_size = 2,
                                   .run = run,
                                   .checkpoints = run,
                                   .variables = {{"TRAINYARD_RESUME_FROM", Path(checkpoint)}}});
  }

  TrainerFolder folder_;
  Losses losses_;
  std::string out_;
  std::string err_;
};

TEST_F(CheckpointProgramTest, ATrainerGoesOnFromReshardedFilesBitForBit) {
  ASSERT_EQ(Run({"reshard", Path("a/step_000000010"), Path("new/step_000000010"), "--files=3"}), 0)
      << err_;
  EXPECT_THAT(out_, HasSubstr("new/step_000000010: step 10, "));
  EXPECT_THAT(out_, HasSubstr("in 3 files of "));
  EXPECT_EQ(err_, "");
  const Losses from_original = ResumeFrom("a/step_000000010", "b");
  const Losses from_resharded = ResumeFrom("new/step_000000010", "c");
  ASSERT_EQ(from_resharded.size(), 10u);
  EXPECT_EQ(from_resharded, from_original);
  for (const auto& [step, loss] : from_resharded) EXPECT_EQ(loss, losses_.at(step)) << step;
  // Both runs have saved the same, the state of the optimizer included.
  EXPECT_EQ(Run({"diff", Path("b/step_000000020"), Path("c/step_000000020")}), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("\nsame: "));
}

TEST_F(CheckpointProgramTest, DiffTellsSteps) {
  EXPECT_EQ(Run({"diff", Path("a/step_000000010"), Path("a/step_000000020")}), 1);
  EXPECT_THAT(out_, HasSubstr("\ntrainer.step     10    20\n"));
  EXPECT_THAT(out_, HasSubstr("\nlm_head.weight "));
  EXPECT_THAT(out_, HasSubstr("\ndiffer: 3 settings, "));
  EXPECT_EQ(Run({"diff", Path("a/step_000000010"), Path("a/step_000000020"), "--only=weights",
                 "--tolerance=100", "--output=json"}),
            0);
  const nlohmann::json json = nlohmann::json::parse(out_);
  EXPECT_EQ(json["same"], true);
  EXPECT_EQ(json["tensors"][0]["result"], "within_tolerance");
}

TEST_F(CheckpointProgramTest, VerifyReadsOneOrTheNewestOrAll) {
  EXPECT_EQ(Run({"verify", Path("a")}), 0);
  EXPECT_THAT(out_, HasSubstr("a/step_000000020 is sound: step 20, "));
  EXPECT_EQ(Run({"verify", "--all", Path("a")}), 0);
  EXPECT_THAT(out_, EndsWith("a: 4 of 4 checkpoints checked are sound\n"));
  std::filesystem::resize_file(Path("a/step_000000010/rank_00001.safetensors"), 1000);
  EXPECT_EQ(Run({"verify", Path("a/step_000000010")}), 74);
  EXPECT_THAT(out_, HasSubstr("rank_00001.safetensors is damaged: it has 1000 bytes instead of "));
  EXPECT_EQ(Run({"verify", "--all", Path("a")}), 74);
  EXPECT_THAT(out_, EndsWith("a: 3 of 4 checkpoints checked are sound\n"));
}

TEST_F(CheckpointProgramTest, BadInputIsOneLineAndAnExitCode) {
  const std::string good = Path("a/step_000000010");
  ExpectFails({"verfy", good}, 2, "unknown command `verfy`");
  ExpectFails({"verify", good, "--al"}, 2, "`verify` has no option `--al`; see");
  ExpectFails({"diff", good, Path("none")}, 74, "none is not a checkpoint");
  ExpectFails({"diff", good, good, "--only", "nothing"}, 2, "`--only nothing`");
  ExpectFails({"reshard", Path("a"), Path("out")}, 74, "name one of them, such as ");
  ExpectFails({"reshard", good, Path("a/step_000000020")}, 2, "must be called step_000000010");
  ExpectFails({"reshard", good, Path("data")}, 73, "it exists and is no checkpoint; name another");
  ExpectFails({"reshard", good, good + "/out"}, 2, "lies inside of it; name another place");
  ExpectFails({"reshard", good, "/proc/out"}, 73, "cannot make /proc/out");
  std::ofstream(good + "/manifest.json") << "{}";
  ExpectFails({"reshard", good, Path("out")}, 74, "manifest.json is damaged");
  ExpectFails({"verify", Path("none")}, 74, "none is not a checkpoint: there is no such directory");
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("Exit codes: "));
}

}  // namespace
}  // namespace trainyard::trainer
