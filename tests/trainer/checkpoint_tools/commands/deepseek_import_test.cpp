// Imports and exports of a tiny DeepSeek-V3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/read_tensor.h"
#include "tests/trainer/checkpoint_tools/tiny_deepseek.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/checkpoint_tools/commands/export.h"
#include "trainer/checkpoint_tools/commands/import.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kBiasName[] = "model.layers.1.mlp.gate.e_score_correction_bias";
constexpr char kUpName[] = "model.layers.0.mlp.up_proj.weight";
const std::atomic<bool> kNeverCancelled = false;

class DeepSeekImportTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  void Import(const RawTensors& tensors, const json& config = TinyDeepSeekV3Config()) const {
    WriteHuggingFace(Path("in"), tensors, config);
    trainer::Import({Path("in"), Path("out")}, kNeverCancelled);
  }
  std::string Refusal(const RawTensors& tensors, ExitCode code,
                      const json& config = TinyDeepSeekV3Config()) const {
    return ErrorOf([&] { Import(tensors, config); }, code);
  }

  const TemporaryDirectory folder_;
};

TEST_F(DeepSeekImportTest, AnExportHasTheBytesOfTheImport) {
  Import(TinyDeepSeekV3Tensors());
  Export({Path("out"), Path("again")}, kNeverCancelled);
  EXPECT_EQ(ReadSafetensors(Path("again") + "/model.safetensors"), TinyDeepSeekV3Tensors());
  const json config = json::parse(ReadText(Path("again") + "/config.json"));
  EXPECT_EQ(config["n_shared_experts"], 2);
  EXPECT_EQ(config["torch_dtype"], "bfloat16");
  EXPECT_EQ(config["rope_parameters"]["mscale_all_dim"], 0.5);
  EXPECT_FALSE(config.contains("quantization_config"));
}

TEST_F(DeepSeekImportTest, TheBiasOfExpertsKeepsItsType) {
  RawTensors tensors = TinyDeepSeekV3Tensors();
  std::mt19937 random(1);
  for (auto& [name, tensor] : tensors) tensor = RandomTensor("F32", tensor.shape, &random);
  Import(tensors);
  ExportOptions options{Path("out"), Path("again")};
  options.dtype = torch::kBFloat16;
  Export(options, kNeverCancelled);
  const RawTensors exported = ReadSafetensors(Path("again") + "/model.safetensors");
  EXPECT_EQ(exported.at(kBiasName), tensors.at(kBiasName));
  EXPECT_EQ(exported.at(kUpName).dtype, "BF16");
}

// The module that predicts further tokens is layer 61 of DeepSeek-V3.
TEST_F(DeepSeekImportTest, LayersAfterTheLastAreNotImported) {
  RawTensors tensors = TinyDeepSeekV3Tensors();
  tensors["model.layers.2.eh_proj.weight"] = tensors.at("model.layers.1.input_layernorm.weight");
  Import(tensors);
  const CheckpointReader reader(Path("out"));
  EXPECT_EQ(reader.tensors().size(), TinyDeepSeekV3Tensors().size());
}

TEST_F(DeepSeekImportTest, ScaledWeightsBecomeSixteenBit) {
  RawTensors tensors = TinyDeepSeekV3Tensors();
  RawTensor& weight = tensors.at(kUpName);
  weight = {"F8_E4M3", weight.shape, std::string(64 * 32, '\x38')};  // 1 in every element.
  const float scale = 0.375F;
  tensors[std::string(kUpName) + "_scale_inv"] = {
      "F32", {1, 1}, std::string(reinterpret_cast<const char*>(&scale), sizeof(scale))};
  Import(tensors);
  const torch::Tensor values = ReadWhole(CheckpointReader(Path("out")), kUpName);
  EXPECT_EQ(values.scalar_type(), torch::kBFloat16);
  EXPECT_TRUE((values == 0.375).all().item<bool>());
}

TEST_F(DeepSeekImportTest, AWrongCheckpointIsRefusedInOneLine) {
  RawTensors tensors = TinyDeepSeekV3Tensors();
  tensors.erase("model.layers.1.mlp.experts.3.up_proj.weight");
  EXPECT_THAT(Refusal(tensors, ExitCode::kBadCheckpoint),
              HasSubstr("lacks tensors: model.layers.1.mlp.experts.3.up_proj.weight"));
  json config = TinyDeepSeekV3Config();
  config["n_routed_experts"] = 12;
  EXPECT_THAT(Refusal(TinyDeepSeekV3Tensors(), ExitCode::kBadCheckpoint, config),
              HasSubstr("model.layers.1.mlp.gate.weight [8, 32] instead of [12, 32]"));
  config = TinyDeepSeekV3Config();
  config["quantization_config"]["weight_block_size"] = {64, 64};
  EXPECT_THAT(Refusal(TinyDeepSeekV3Tensors(), ExitCode::kBadConfig, config),
              HasSubstr("scales of blocks of [64,64]; an import supports only [128,128]"));
}

}  // namespace
}  // namespace trainyard::trainer
