// Tests the program trainyard-ckpt as users run it, on checkpoints of the real trainer.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using testing::ContainsRegex;
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

class ProgramRunner : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() / name; }

  // Runs the program until it exits and returns its exit code.
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

  // Expects the exit code, and one line on stderr that contains `part`.
  void ExpectFails(const std::vector<std::string>& arguments, int code, const std::string& part) {
    EXPECT_EQ(Run(arguments), code) << err_;
    EXPECT_EQ(out_, "");
    EXPECT_THAT(err_, testing::AllOf(StartsWith("error: "), HasSubstr(part), EndsWith("\n")));
    EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
  }

  TrainerFolder folder_;
  std::string out_;
  std::string err_;
};

// Two ranks train to step 20 and keep every checkpoint. Each rank has half of the optimizer state.
class CheckpointProgramTest : public ProgramRunner {
 protected:
  CheckpointProgramTest() {
    folder_.spec["checkpoint"]["keep_last"] = 10;
    folder_.spec["layout"]["zero"] = 1;
    losses_ = TrainToTheEnd(folder_, {.world_size = 2, .run = "a", .checkpoints = "a"});
  }

  // Returns the losses of two ranks that resume from a checkpoint.
  Losses ResumeFrom(const std::string& checkpoint, const std::string& run) {
    return TrainToTheEnd(folder_, {.world_size = 2,
                                   .run = run,
                                   .checkpoints = run,
                                   .variables = {{"TRAINYARD_RESUME_FROM", Path(checkpoint)}}});
  }

  Losses losses_;
};

// Imports a tiny LLaMA in Hugging Face format, and trains from its weights.
class ImportProgramTest : public ProgramRunner {
 protected:
  ImportProgramTest() {
    folder_.spec["train"]["steps"] = 2;
    folder_.spec["schedule"]["warmup_steps"] = 0;
    folder_.spec["evaluation"]["every_steps"] = 0;
    WriteHuggingFaceShards(Path("llama"), tensors_);
    EXPECT_EQ(Run({"import", Path("llama"), Path("imported")}), 0) << err_;
    folder_.spec["model"] = PrintedModel();
  }

  // Returns the section `model` that the program printed. Its lines look like "  num_layers: 2".
  nlohmann::json PrintedModel() const {
    nlohmann::json model;
    std::istringstream lines(out_.substr(out_.find("model:\n")));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      const size_t colon = line.find(": ");
      model[line.substr(2, colon - 2)] = nlohmann::json::parse(line.substr(colon + 2));
    }
    return model;
  }

  // Returns the losses of both steps.
  Losses Train(const std::string& run, int64_t ranks, const nlohmann::json& layout) {
    folder_.spec["layout"] = layout;
    folder_.spec["layout"]["micro_batch"] = 4;
    return TrainToTheEnd(folder_, {.world_size = ranks,
                                   .run = run,
                                   .checkpoints = run,
                                   .variables = {{"TRAINYARD_RESUME_FROM", Path("imported")}}});
  }

  const RawTensors tensors_ = TinyLlama("F32");
};

TEST_F(ImportProgramTest, EveryLayoutStartsFromAnImportAndExports) {
  const Losses alone = Train("alone", 1, nlohmann::json::object());
  ASSERT_EQ(alone.size(), 2u);
  const std::map<std::string, nlohmann::json> layouts = {
      {"zero1", {{"zero", 1}}}, {"zero3", {{"zero", 3}}}, {"tp", {{"tp", 2}}}, {"pp", {{"pp", 2}}}};
  for (const auto& [name, layout] : layouts) {
    const Losses losses = Train(name, 2, layout);
    ASSERT_EQ(losses.size(), 2u) << name;
    for (const auto& [step, loss] : losses) EXPECT_NEAR(loss, alone.at(step), 1e-5) << name;
    const std::string exported = Path(name + "_exported");
    ASSERT_EQ(Run({"export", Path(name + "/step_000000002"), exported}), 0) << err_;
    EXPECT_THAT(out_, HasSubstr("step 2 as LlamaForCausalLM, 21 tensors in 1 file of "));
    const RawTensors trained = ReadHuggingFace(exported);
    ASSERT_EQ(trained.size(), tensors_.size());
    for (const auto& [tensor, before] : tensors_) {
      EXPECT_EQ(trained.at(tensor).shape, before.shape);
      EXPECT_NE(trained.at(tensor).bytes, before.bytes) << tensor;
    }
  }
}

// The learning rate is 0, so training does not change the imported weights.
TEST_F(ImportProgramTest, TheTrainerHasTheWeightsBitForBit) {
  folder_.spec["optimizer"] = {{"lr", 0}, {"min_lr", 0}};
  Train("still", 2, {{"zero", 3}});
  ASSERT_EQ(Run({"export", Path("still/step_000000002"), Path("exported")}), 0) << err_;
  EXPECT_EQ(ReadHuggingFace(Path("exported")), tensors_);
}

TEST_F(ImportProgramTest, BadInputIsOneLineAndAnExitCode) {
  nlohmann::json config = TinyLlamaConfig();
  config["rope_scaling"] = {{"rope_type", "llama3"}};
  WriteHuggingFace(Path("scaled"), tensors_, config);
  ExpectFails({"import", Path("scaled"), Path("out")}, 78,
              "config.json scales positions but lacks `rope_scaling.factor`");
  ExpectFails({"import", Path("none"), Path("out")}, 74, "none is not a Hugging Face directory");
  ExpectFails({"import", Path("llama"), Path("imported")}, 73,
              "replace the checkpoint with --force");
  std::filesystem::remove(Path("llama/model-00001-of-00002.safetensors"));
  ExpectFails({"import", Path("llama"), Path("out")}, 74, "lacks model-00001-of-00002.safetensors");
  ExpectFails({"export", Path("imported"), Path("data")}, 73,
              "this directory exists and is not empty");
  ExpectFails({"export", Path("imported"), Path("out"), "--dtype=fp8"}, 2, "must be fp32 or bf16");
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

// The weights of a later step cannot be used alone, because the moments of the optimizer would be
// missing.
TEST_F(ImportProgramTest, OnlyStepZeroStartsWithoutAnOptimizer) {
  Train("alone", 1, nlohmann::json::object());
  ASSERT_EQ(Run({"reshard", "--weights-only", Path("alone/step_000000002"), Path("weights")}), 0);
  TrainerProcess trainer(
      folder_,
      {.run = "b", .checkpoints = "b", .variables = {{"TRAINYARD_RESUME_FROM", Path("weights")}}});
  EXPECT_NE(trainer.Wait(), 0);
  EXPECT_THAT(trainer.Output(), HasSubstr("optimizer.exp_avg."));
}

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
  // Both runs must have saved the same data, including the optimizer state.
  EXPECT_EQ(Run({"diff", Path("b/step_000000020"), Path("c/step_000000020")}), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("\nsame: "));
}

TEST_F(CheckpointProgramTest, DiffTellsSteps) {
  EXPECT_EQ(Run({"diff", Path("a/step_000000010"), Path("a/step_000000020")}), 1);
  EXPECT_THAT(out_, ContainsRegex("\ntrainer.step +10 +20\n"));
  EXPECT_THAT(out_, HasSubstr("\nlm_head.weight "));
  EXPECT_THAT(out_, HasSubstr("\ndiffer: 5 settings, "));
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
  EXPECT_THAT(out_, EndsWith("a: 4 of 4 checked checkpoints are sound\n"));
  std::filesystem::resize_file(Path("a/step_000000010/rank_00001.safetensors"), 1000);
  EXPECT_EQ(Run({"verify", Path("a/step_000000010")}), 74);
  EXPECT_THAT(out_, HasSubstr("rank_00001.safetensors is damaged: it has 1000 bytes instead of "));
  EXPECT_EQ(Run({"verify", "--all", Path("a")}), 74);
  EXPECT_THAT(out_, EndsWith("a: 3 of 4 checked checkpoints are sound\n"));
}

TEST_F(CheckpointProgramTest, BadInputIsOneLineAndAnExitCode) {
  const std::string good = Path("a/step_000000010");
  ExpectFails({"verfy", good}, 2, "unknown command `verfy`");
  ExpectFails({"verify", good, "--al"}, 2, "`verify` has no option `--al`; see");
  ExpectFails({"diff", good, Path("none")}, 74, "none is not a checkpoint");
  ExpectFails({"diff", good, good, "--only", "nothing"}, 2, "`--only nothing`");
  ExpectFails({"reshard", Path("a"), Path("out")}, 74, "name one of the checkpoints, such as ");
  ExpectFails({"reshard", good, Path("a/step_000000020")}, 2, "must be called step_000000010");
  ExpectFails({"reshard", good, Path("data")}, 73,
              "this path exists and is not a checkpoint; use another path");
  ExpectFails({"reshard", good, good + "/out"}, 2, "is inside that directory; use another path");
  ExpectFails({"reshard", good, "/proc/out"}, 73, "it is on a kernel file system");
  std::ofstream(good + "/manifest.json") << "{}";
  ExpectFails({"reshard", good, Path("out")}, 74, "manifest.json is damaged");
  ExpectFails({"verify", Path("none")}, 74, "none is not a checkpoint: there is no such directory");
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("Exit codes: "));
}

}  // namespace
}  // namespace trainyard::trainer
