// Runs the complete program on blends, evaluation sets and token files of other tools.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <tuple>

#include "tests/trainer/data/foreign_tokens.h"
#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

void WriteBytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string BytesOfFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns tokens that count up from 0. TrainerFolder's own tokens differ.
std::vector<int64_t> CountingTokens(int64_t count) {
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(i % 61);
  return tokens;
}

// Writes a directory `other` beside `data`, in llm.c's format.
void WriteOther(const TrainerFolder& folder) {
  std::filesystem::create_directory(folder.path() / "other");
  WriteBytes(folder.path() / "other/other_train_000001.bin",
             LlmcFile(CountingTokens(900), 20240520, 1, 2));
  WriteBytes(folder.path() / "other/other_val_000000.bin",
             LlmcFile(CountingTokens(500), 20240520, 1, 2));
}

void UseBlend(TrainerFolder& folder) {
  WriteOther(folder);
  folder.spec["data"] = {{"blend",
                          {"0.75 " + (folder.path() / "data").string(),
                           "0.25 " + (folder.path() / "other").string()}}};
  folder.spec["checkpoint"]["keep_last"] = 10;
}

void ExpectFails(const TrainerFolder& folder, int code, const std::string& part) {
  static int runs = 0;
  TrainerProcess trainer(folder, {.run = "failing" + std::to_string(++runs)});
  EXPECT_EQ(trainer.Wait(), code) << trainer.Output();
  EXPECT_NE(trainer.Output().find(part), std::string::npos) << trainer.Output();
}

TEST(DataSourcesProcessTest, ABlendResumesBitForBitAndUnderAnyLayout) {
  TrainerFolder folder;
  UseBlend(folder);
  TrainerProcess first(folder, {.run = "a", .checkpoints = "a"});
  ASSERT_EQ(first.Wait(), 0) << first.Output();
  const Losses whole = first.Losses();
  const std::string from = folder.path() / "a/step_000000005";
  const std::map<std::string, std::string> resume = {{"TRAINYARD_RESUME_FROM", from}};
  const Losses resumed =
      TrainToTheEnd(folder, {.run = "b", .checkpoints = "b", .variables = resume});
  ASSERT_EQ(resumed.size(), 15u);
  for (const auto& [step, loss] : resumed) EXPECT_EQ(loss, whole.at(step)) << "step " << step;
  const Losses two =
      TrainToTheEnd(folder, {.world_size = 2, .run = "c", .checkpoints = "c", .variables = resume});
  ASSERT_EQ(two.size(), 15u);
  for (const auto& [step, loss] : two) EXPECT_NEAR(loss, whole.at(step), 1e-5 * loss);

  // 40 of the 160 samples are from `other`. One epoch of `data` has 899 / 16 = 56 samples.
  const json metrics = first.Records("metrics").back();
  EXPECT_DOUBLE_EQ(metrics["data_epochs_data"], 120.0 / 1249);
  EXPECT_DOUBLE_EQ(metrics["data_epochs_other"], 40.0 / 56);
  const std::string output = first.Output();
  EXPECT_NE(output.find("25 % of the samples; this run reads them 0.71 times"), std::string::npos)
      << output;

  folder.spec["data"]["blend"][1] = "0.5 " + (folder.path() / "other").string();
  TrainerProcess changed(folder, {.run = "d", .checkpoints = "d", .variables = resume});
  EXPECT_EQ(changed.Wait(), 0);
  EXPECT_NE(changed.Output().find("data.blend was [3,1] and is now [3,2]"), std::string::npos)
      << changed.Output();
}

// Resumes before the first stage, in it, and in the second one.
TEST(DataSourcesProcessTest, StagesOfABlendAreKeptByResumesAndLayouts) {
  TrainerFolder folder;
  UseBlend(folder);
  folder.spec["data"]["blend"] = {"1 " + (folder.path() / "data").string(),
                                  "0 " + (folder.path() / "other").string()};
  folder.spec["data"]["blend_stages"] = {"9 data=1 other=1", "15 other=1"};
  TrainerProcess first(folder, {.run = "a", .checkpoints = "a"});
  ASSERT_EQ(first.Wait(), 0) << first.Output();
  const Losses whole = first.Losses();
  const std::tuple<int64_t, std::string, int> resumes[] = {
      {5, "05", 1}, {10, "10", 1}, {10, "10", 2}, {15, "15", 1}};
  for (const auto& [step, digits, ranks] : resumes) {
    const std::string run = "from" + digits + "_" + std::to_string(ranks);
    const std::string checkpoint = folder.path() / ("a/step_0000000" + digits);
    const Losses resumed =
        TrainToTheEnd(folder, {.world_size = ranks,
                               .run = run,
                               .checkpoints = run,
                               .variables = {{"TRAINYARD_RESUME_FROM", checkpoint}}});
    ASSERT_EQ(static_cast<int64_t>(resumed.size()), 20 - step);
    for (const auto& [at, loss] : resumed) {
      EXPECT_NEAR(loss, whole.at(at), ranks == 1 ? 0 : 1e-5 * loss) << run << " step " << at;
    }
  }
  // Steps 9 to 14 take 24 of 48 samples from `other`, and steps 15 to 20 take all 48.
  const json metrics = first.Records("metrics").back();
  EXPECT_DOUBLE_EQ(metrics["data_epochs_data"], 88.0 / 1249);
  EXPECT_DOUBLE_EQ(metrics["data_epochs_other"], 72.0 / 56);
  EXPECT_NE(first.Output().find("45 % of the samples; this run reads them 1.29 times"),
            std::string::npos)
      << first.Output();

  folder.spec["data"]["blend_stages"] = {"9 data=1 other=3"};
  TrainerProcess changed(
      folder, {.run = "b",
               .checkpoints = "b",
               .variables = {{"TRAINYARD_RESUME_FROM", folder.path() / "a/step_000000010"}}});
  EXPECT_EQ(changed.Wait(), 0);
  EXPECT_NE(changed.Output().find("data.blend was [1,1] and is now [1,3]. The new weights apply "
                                  "from step 11"),
            std::string::npos)
      << changed.Output();
  // Steps 9 and 10 take 8 samples from `other`, and the 10 steps after them 60.
  EXPECT_DOUBLE_EQ(changed.Records("metrics").back()["data_epochs_other"], 68.0 / 56);
}

TEST(DataSourcesProcessTest, EveryFormatTrainsTheSame) {
  TrainerFolder folder;
  const Losses ours = TrainToTheEnd(folder, {.run = "ours", .checkpoints = "ours"});
  const std::filesystem::path data = folder.path() / "data";
  for (const char* split : {"train", "val"})
    std::filesystem::remove(data / (std::string(split) + ".json"));
  folder.spec["data"]["format"] = "nanogpt";
  EXPECT_EQ(TrainToTheEnd(folder, {.run = "nanogpt", .checkpoints = "nanogpt"}), ours);
  for (const char* split : {"train", "val"}) {
    const auto tokens =
        static_cast<int64_t>(std::filesystem::file_size(data / (std::string(split) + ".bin")) / 2);
    WriteBytes(data / (std::string(split) + ".idx"), MegatronIndex({100, tokens - 100}, 8, 2));
  }
  folder.spec["data"].erase("format");
  EXPECT_EQ(TrainToTheEnd(folder, {.run = "megatron", .checkpoints = "megatron"}), ours);
}

TEST(DataSourcesProcessTest, ReportsEachEvaluationSet) {
  TrainerFolder folder;
  TrainerProcess alone(folder, {.run = "alone", .checkpoints = "alone"});
  ASSERT_EQ(alone.Wait(), 0) << alone.Output();
  WriteOther(folder);
  folder.spec["evaluation"]["sets"] = {
      "val " + (folder.path() / "data").string(), "other " + (folder.path() / "other").string(),
      "file " + (folder.path() / "other/other_val_000000.bin").string()};
  TrainerProcess several(folder, {.run = "several", .checkpoints = "several"});
  ASSERT_EQ(several.Wait(), 0) << several.Output();
  const std::vector<json> one = alone.Records("eval"), all = several.Records("eval");
  ASSERT_EQ(one.size(), 2u);
  ASSERT_EQ(all.size(), 6u);
  const char* names[] = {"val", "other", "file"};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(all[i]["data_set"], names[i % 3]);
  EXPECT_EQ(all[3]["loss"], one[1]["loss"]) << "other sets change nothing";
  EXPECT_GT(all[4]["loss"].get<double>(), all[3]["loss"].get<double>()) << "another language";
  EXPECT_EQ(all[5]["loss"], all[4]["loss"]) << "the same file by its own name";
  char line[100];
  const double loss = all[4]["loss"];
  std::snprintf(line, sizeof(line), "other loss %.4f   perplexity %.4g over 192 tokens", loss,
                std::exp(loss));
  EXPECT_NE(several.Output().find(line), std::string::npos) << several.Output();
}

TEST(DataSourcesProcessTest, BadDataEndsWithOneLineAndTheDocumentedCode) {
  TrainerFolder folder;
  const json sound = folder.spec["data"];
  const std::filesystem::path data = folder.path() / "data", train = data / "train.bin";
  folder.spec["data"]["blend"] = {"1 " + data.string()};
  ExpectFails(folder, 78, "`data.path` and `data.blend` are both set; keep one");
  folder.spec["data"] = {{"blend", {"1 " + data.string(), "0 /none"}}};
  ExpectFails(folder, 78, "write each entry as WEIGHT PATH");
  folder.spec["data"] = {{"blend", {"1 " + data.string()}}, {"blend_stages", {"9 other=1"}}};
  ExpectFails(folder, 78, "names `other`, which is not a source of `data.blend`");
  folder.spec["data"] = {{"blend", {"1 " + data.string(), "1 /none"}}};
  ExpectFails(folder, 66, "/none/train.bin: cannot open");
  folder.spec["data"] = sound;
  folder.spec["data"]["format"] = "tfrecord";
  ExpectFails(folder, 78, "must be one of: auto, trainyard, megatron, nanogpt, llmc");
  folder.spec["data"]["format"] = "llmc";
  ExpectFails(folder, 65, "not a token file of llm.c");
  folder.spec["data"]["format"] = "megatron";
  ExpectFails(folder, 66, "train.idx: cannot open");
  folder.spec["data"] = sound;
  folder.spec["evaluation"]["sets"] = {"code /none"};
  ExpectFails(folder, 66, "/none/val.bin: cannot open");
  folder.spec["evaluation"].erase("sets");
  folder.spec["data"]["path"] = train.string();
  ExpectFails(folder, 66, "is one file and has no split `val`");
  std::string bytes = BytesOfFile(train);
  for (size_t i = 0; i < bytes.size(); i += 2) bytes[i] = 64;
  WriteBytes(train, bytes);
  std::filesystem::remove(data / "train.json");
  folder.spec["data"] = {{"path", data.string()}, {"format", "nanogpt"}};
  ExpectFails(folder, 65, "token id 64 among tokens");
  folder.spec["data"].erase("format");
  ExpectFails(folder, 65,
              "made by nanoGPT, which writes no header; for nanoGPT's files, set data.format");
}

}  // namespace
}  // namespace trainyard::trainer
