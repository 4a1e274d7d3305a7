#include "trainer/checkpoint_tools/commands/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "proto/model/model_fingerprint.h"
#include "tests/trainer/checkpoint/cut_tensors.h"
#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/checkpoint_tools/commands/import.h"
#include "trainer/checkpoint_tools/families/imported_model.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::atomic<bool> kGoesOn = false;

std::vector<std::string> FilesOf(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the bf16 nearest to a float. A tie goes to the bf16 whose last bit is even.
uint16_t NearestBfloat16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t rest = bits & 0xffff, upper = bits >> 16;
  const bool rounds_up = rest > 0x8000 || (rest == 0x8000 && upper % 2 == 1);
  return static_cast<uint16_t>(upper + (rounds_up ? 1 : 0));
}

class ExportTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  // Creates the checkpoint "checkpoint" with these weights.
  void MakeCheckpoint(const RawTensors& tensors) const {
    WriteHuggingFace(Path("source"), tensors);
    Import({Path("source"), Path("checkpoint")}, kGoesOn);
  }
  ExportSummary Run(const ExportOptions& options) const { return Export(options, kGoesOn); }
  std::string Refusal(const ExportOptions& options, ExitCode code) const {
    return ErrorOf([&] { Run(options); }, code);
  }

  const TemporaryDirectory folder_;
};

TEST_F(ExportTest, ARoundTripChangesNoByte) {
  for (const char* dtype : {"F32", "BF16", "F16"}) {
    const RawTensors tensors = TinyLlama(dtype);
    const std::string name = dtype;
    WriteHuggingFaceShards(Path(name + "1"), tensors);
    Import({Path(name + "1"), Path(name + "2")}, kGoesOn);
    Run({Path(name + "2"), Path(name + "3")});
    EXPECT_EQ(ReadHuggingFace(Path(name + "3")), tensors);
    Import({Path(name + "3"), Path(name + "4")}, kGoesOn);
    Run({Path(name + "4"), Path(name + "5"), 10000});
    EXPECT_EQ(ReadHuggingFace(Path(name + "5")), tensors);
    EXPECT_EQ(ReadText(Path(name + "5/config.json")), ReadText(Path(name + "3/config.json")));
  }
}

// 73 MiB is more than one read returns.
TEST_F(ExportTest, ALargeTensorKeepsItsOrder) {
  constexpr int64_t kVocabulary = 600'000;
  RawTensors tensors = TinyLlama("F32", /*is_tied=*/true);
  std::vector<float> numbers(kVocabulary * 32);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  tensors["model.embed_tokens.weight"] = {
      "F32",
      {kVocabulary, 32},
      {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)}};
  json config = TinyLlamaConfig();
  config["tie_word_embeddings"] = true;
  config["vocab_size"] = kVocabulary;
  WriteHuggingFace(Path("source"), tensors, config);
  Import({Path("source"), Path("checkpoint")}, kGoesOn);
  Run({Path("checkpoint"), Path("out")});
  EXPECT_TRUE(ReadHuggingFace(Path("out")) == tensors);  // EXPECT_EQ would print all values.
}

TEST_F(ExportTest, ConfigAsTransformersReadsIt) {
  MakeCheckpoint(TinyLlama("F32"));
  Run({Path("checkpoint"), Path("out")});
  EXPECT_THAT(FilesOf(Path("out")), ElementsAre("config.json", "model.safetensors"));
  json expected = TinyLlamaConfig();
  for (const char* key :
       {"initializer_range", "pretraining_tp", "transformers_version", "use_cache"}) {
    expected.erase(key);
  }
  expected["bos_token_id"] = expected["eos_token_id"] = expected["pad_token_id"] = nullptr;
  expected["rope_parameters"] = {{"rope_theta", 500000.0}, {"rope_type", "default"}};
  EXPECT_EQ(json::parse(ReadText(Path("out/config.json"))), expected);
}

TEST_F(ExportTest, ShardsHaveAnIndexAndKeepTheLimit) {
  const RawTensors tensors = TinyLlama("F32");
  MakeCheckpoint(tensors);
  const ExportSummary summary = Run({Path("checkpoint"), Path("out"), 10000});
  EXPECT_EQ(summary.tensors, 21);
  EXPECT_GT(summary.files, 4);
  EXPECT_EQ(FilesOf(Path("out")).size(), static_cast<size_t>(summary.files) + 2);
  const json index = json::parse(ReadText(Path("out/model.safetensors.index.json")));
  int64_t bytes = 0;
  std::map<std::string, int64_t> bytes_of;
  for (const auto& [name, tensor] : tensors) {
    const std::string file = index["weight_map"][name];
    EXPECT_EQ(ReadSafetensors(Path("out/" + file)).at(name), tensor);
    bytes += static_cast<int64_t>(tensor.bytes.size());
    bytes_of[file] += static_cast<int64_t>(tensor.bytes.size());
  }
  EXPECT_EQ(index["metadata"]["total_size"], bytes);
  for (const auto& [file, its_bytes] : bytes_of) EXPECT_LE(its_bytes, 10000) << file;
}

TEST_F(ExportTest, Bf16IsRoundedToNearestEven) {
  RawTensors tensors = TinyLlama("F32");
  // Floats halfway between two bf16 values, with an even or an odd lower neighbor, and floats
  // close to these halfway points.
  std::string& bytes = tensors["model.norm.weight"].bytes;
  const uint32_t special[] = {0x3f808000, 0x3f818000, 0x3f808001, 0x3f817fff, 0xbf818000};
  std::memcpy(bytes.data(), special, sizeof(special));
  MakeCheckpoint(tensors);
  Run({Path("checkpoint"), Path("out"), 1'000'000, torch::kBFloat16});
  const RawTensors rounded = ReadHuggingFace(Path("out"));
  for (const auto& [name, tensor] : tensors) {
    ASSERT_EQ(rounded.at(name).dtype, "BF16");
    std::string expected;
    for (size_t i = 0; i < tensor.bytes.size(); i += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, tensor.bytes.data() + i, sizeof(value));
      const uint16_t nearest = NearestBfloat16(value);
      expected.append(reinterpret_cast<const char*>(&nearest), sizeof(nearest));
    }
    EXPECT_EQ(rounded.at(name).bytes, expected) << name;
  }
  EXPECT_EQ(json::parse(ReadText(Path("out/config.json")))["torch_dtype"], "bfloat16");
}

TEST_F(ExportTest, Fp32OfBf16IsExact) {
  const RawTensors tensors = TinyLlama("BF16");
  MakeCheckpoint(tensors);
  Run({Path("checkpoint"), Path("out"), 1'000'000, torch::kFloat32});
  for (const auto& [name, tensor] : ReadHuggingFace(Path("out"))) {
    EXPECT_EQ(tensor.dtype, "F32");
    std::string upper;
    for (size_t i = 0; i < tensor.bytes.size(); i += 4) {
      EXPECT_EQ(tensor.bytes.substr(i, 2), std::string(2, '\0'));
      upper += tensor.bytes.substr(i + 2, 2);
    }
    EXPECT_EQ(upper, tensors.at(name).bytes) << name;
  }
}

TEST_F(ExportTest, F16IsConverted) {
  const RawTensors tensors = TinyLlama("F16");
  MakeCheckpoint(tensors);
  Run({Path("checkpoint"), Path("out"), 1'000'000, torch::kFloat32});
  for (const auto& [name, tensor] : ReadHuggingFace(Path("out"))) {
    const RawTensor& half = tensors.at(name);
    const int64_t elements = static_cast<int64_t>(half.bytes.size()) / 2;
    const torch::Tensor wide = torch::empty({elements});
    wide.copy_(torch::from_blob(const_cast<char*>(half.bytes.data()), {elements}, torch::kFloat16));
    EXPECT_EQ(tensor.bytes, std::string(static_cast<const char*>(wide.data_ptr()), wide.nbytes()))
        << name;
  }
}

TEST_F(ExportTest, OnlyForceReplacesAnEarlierExport) {
  MakeCheckpoint(TinyLlama("F32"));
  Run({Path("checkpoint"), Path("out"), 10000});
  ExportOptions options = {Path("checkpoint"), Path("out")};
  EXPECT_THAT(Refusal(options, ExitCode::kCannotWrite),
              HasSubstr("an earlier export with --force"));
  options.replace = true;
  Run(options);
  EXPECT_THAT(FilesOf(Path("out")), ElementsAre("config.json", "model.safetensors"));
  WriteText(Path("out/tokenizer.json"), "{}");
  EXPECT_THAT(Refusal(options, ExitCode::kCannotWrite),
              HasSubstr("--force replaces only an earlier export, but tokenizer.json is not part"));
}

TEST_F(ExportTest, AFailureKeepsTheEarlierExport) {
  MakeCheckpoint(TinyLlama("F32"));
  Run({Path("checkpoint"), Path("out")});
  const std::string weights = ReadText(Path("out/model.safetensors"));
  FlipByte(Path("checkpoint/rank_00000.safetensors"), 20000);
  ExportOptions options = {Path("checkpoint"), Path("out")};
  options.replace = true;
  EXPECT_THAT(Refusal(options, ExitCode::kBadCheckpoint), HasSubstr("does not match"));
  EXPECT_EQ(ReadText(Path("out/model.safetensors")), weights);
  EXPECT_THAT(FilesOf(folder_.path()), ElementsAre("checkpoint", "out", "source"));
}

// The checkpoint contains boxes of several ranks. It also contains an optimizer state, which must
// not be exported.
TEST_F(ExportTest, AnyLayoutOfACheckpoint) {
  const RawTensors tensors = TinyLlama("F32");
  const CheckpointDirectory cut;
  std::mt19937 random(20261123);
  std::vector<TensorChunk> chunks;
  for (const auto& [name, raw] : tensors) {
    const torch::Tensor values = torch::empty(raw.shape);
    std::memcpy(values.data_ptr(), raw.bytes.data(), raw.bytes.size());
    for (TensorChunk& chunk : Cut(name, values, 4, &random)) chunks.push_back(std::move(chunk));
    chunks.push_back(WholeTensor("optimizer.exp_avg." + name, values));
  }
  CheckpointWriterOptions options = cut.Options();
  options.model_fingerprint =
      ModelFingerprint(ModelOfConfig(TinyLlamaConfig(), "config.json").model);
  CheckpointWriter writer(options);
  writer.Save(7, {{"seq_length", 16}}, chunks);
  writer.Finish();
  EXPECT_EQ(Run({cut.Step(7), Path("out"), 20000}).step, 7);
  EXPECT_EQ(ReadHuggingFace(Path("out")), tensors);
  EXPECT_EQ(json::parse(ReadText(Path("out/config.json")))["max_position_embeddings"], 16);
}

TEST_F(ExportTest, BadInput) {
  EXPECT_THAT(Refusal({Path("none"), Path("out")}, ExitCode::kBadCheckpoint),
              HasSubstr("none is not a checkpoint"));
  const CheckpointDirectory other;
  other.SaveWhole(1, Weights(1));
  EXPECT_THAT(Refusal({other.Step(1), Path("out")}, ExitCode::kBadCheckpoint),
              HasSubstr("does not describe its model"));
  MakeCheckpoint(TinyLlama("F32"));
  EXPECT_THAT(Refusal({Path("checkpoint"), Path("source")}, ExitCode::kCannotWrite),
              HasSubstr("source: this directory exists and is not empty; use another path, or "));
  EXPECT_THAT(Refusal({Path("checkpoint"), Path("checkpoint/out")}, ExitCode::kUsage),
              HasSubstr("is inside that directory"));
  FlipByte(Path("checkpoint/rank_00000.safetensors"), 20000);
  EXPECT_THAT(Refusal({Path("checkpoint"), Path("out")}, ExitCode::kBadCheckpoint),
              HasSubstr("does not match"));
  EXPECT_THAT(FilesOf(folder_.path()), ElementsAre("checkpoint", "source"));
}

TEST_F(ExportTest, ACheckpointWithoutATensorOfItsModel) {
  const CheckpointDirectory other;
  CheckpointWriterOptions options = other.Options();
  options.model_fingerprint =
      ModelFingerprint(ModelOfConfig(TinyLlamaConfig(), "config.json").model);
  CheckpointWriter writer(options);
  writer.Save(1, {}, {WholeTensor("model.norm.weight", torch::ones({32}))});
  writer.Finish();
  EXPECT_THAT(Refusal({other.Step(1), Path("out")}, ExitCode::kBadCheckpoint),
              HasSubstr("it lacks tensors: model.embed_tokens.weight, "));
}

TEST_F(ExportTest, AnInterruptionLeavesNothing) {
  MakeCheckpoint(TinyLlama("F32"));
  EXPECT_THAT(ErrorOf(
                  [&] {
                    Export({Path("checkpoint"), Path("out")}, true);
                  },
                  ExitCode::kTerminated),
              HasSubstr("was not created: interrupted"));
  EXPECT_THAT(FilesOf(folder_.path()), ElementsAre("checkpoint", "source"));
}

}  // namespace
}  // namespace trainyard::trainer
