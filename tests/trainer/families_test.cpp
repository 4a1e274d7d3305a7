// Compares a tiny model of every Hugging Face family with transformers: logits, loss, every
// gradient, and the bytes after import and export. tests/trainer/references/families.py creates the
// expected files, and qwen2.py those of Qwen2.5, from a plain model in float64.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <iostream>

#include "proto/model/model_fingerprint.h"
#include "tests/fakes/temporary_directory.h"
#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/read_tensor.h"
#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "tests/trainer/ops/gradient_check.h"
#include "tests/trainer/step/logical_tensors.h"
#include "trainer/checkpoint_tools/commands/export.h"
#include "trainer/checkpoint_tools/commands/import.h"
#include "trainer/model/decoder.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr double kTolerance = 1e-4;
constexpr char kGradient[] = "gradient.";
const std::atomic<bool> kRuns = false;

Tensor TensorOf(const RawTensor& raw) {
  const Tensor tensor = torch::empty(raw.shape, raw.dtype == "I64" ? torch::kInt64 : torch::kFloat);
  std::memcpy(tensor.data_ptr(), raw.bytes.data(), raw.bytes.size());
  return tensor;
}

// Returns the weights in a directory that also contains the expected values.
RawTensors WeightsOf(const std::string& directory) {
  RawTensors tensors;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("model") || !name.ends_with(".safetensors")) continue;
    tensors.merge(ReadSafetensors(entry.path()));
  }
  return tensors;
}

// Calls visit(layer, name) for the bias of each layer with experts, if the model has biases.
void ForEachExpertBias(const ModelConfig& model,
                       const std::function<void(int64_t, const std::string&)>& visit) {
  if (!model.moe_router_enable_expert_bias) return;
  for (int64_t layer = model.moe_dense_layers; layer < model.num_layers; ++layer) {
    visit(layer, ExpertBiasName(layer));
  }
}

// Returns a model on one rank, with the weights of a checkpoint.
std::unique_ptr<Decoder> Loaded(const ModelConfig& model, const std::string& checkpoint) {
  auto decoder = std::make_unique<Decoder>(model, DecoderOptions{.seed = std::nullopt});
  const CheckpointReader reader(checkpoint);
  for (const StoredSlice& slice : decoder->parameters().slices()) {
    const LogicalTensorSlice& logical = slice.logical;
    decoder->parameters().SetMaster(
        slice, ReadBox(reader, logical.name, logical.offset, logical.shape).flatten());
  }
  ForEachExpertBias(model, [&](int64_t layer, const std::string& name) {
    decoder->expert_balance().bias[layer].copy_(ReadBox(reader, name, {0}, {model.num_experts}));
  });
  return decoder;
}

// Returns the mean loss of the predictions, after computing the gradients. `tokens` is [samples,
// length].
double LossWithGradients(Decoder* decoder, const Tensor& tokens) {
  const int64_t predictions = tokens.size(0) * (tokens.size(1) - 1);
  const TrainingTokens batch = {tokens, torch::full({predictions}, 1.0 / predictions)};
  Tensor loss = torch::zeros({}, torch::kFloat64);
  WeightGradients gradients(decoder->parameters());
  decoder->ForwardBackward(batch, loss, gradients);
  return loss.item<double>();
}

// Returns the gradients by Hugging Face name. Stores the gradients as the weights of a checkpoint
// and exports the checkpoint, because an export translates the names. The expert bias has no
// gradient.
RawTensors GradientsOf(Decoder* decoder, const ModelConfig& model) {
  ParameterStore& store = decoder->parameters();
  LogicalTensors gradients;
  const auto all = [&](int64_t group) { return store.OwnedOf(group); };
  gradients.Add(store, all, [&](int64_t group, const ElementRange& range) {
    return store.Gradients(group, range);
  });
  std::vector<TensorChunk> chunks;
  for (const auto& [name, tensor] : gradients.tensors()) {
    chunks.push_back(WholeTensor(name, tensor));
  }
  ForEachExpertBias(model, [&](int64_t, const std::string& name) {
    chunks.push_back(WholeTensor(name, torch::zeros({model.num_experts})));
  });
  const CheckpointDirectory directory;
  CheckpointWriterOptions options = directory.Options();
  options.model_fingerprint = ModelFingerprint(model);
  CheckpointWriter writer(options);
  writer.Save(1, {}, chunks);
  writer.Finish();
  const TemporaryDirectory out;
  Export({directory.Step(1), out.path() + "/gradients"}, kRuns);
  RawTensors exported = WeightsOf(out.path() + "/gradients");
  ForEachExpertBias(model, [&](int64_t, const std::string& name) { exported.erase(name); });
  return exported;
}

// Returns a weight's name in the files. transformers 5 renames the head of GPT-NeoX in memory, but
// not in files.
std::string StoredName(const std::string& weight, const RawTensors& stored) {
  return weight == "lm_head.weight" && !stored.contains(weight) ? "embed_out.weight" : weight;
}

class FamiliesTest : public testing::TestWithParam<const char*> {
 protected:
  FamiliesTest() : expected_(ReadSafetensors(From() + "/expected.safetensors")) {}

  static std::string From() { return std::string(FAMILIES_DIRECTORY) + "/" + GetParam(); }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  ModelConfig ImportTo(const std::string& checkpoint) const {
    return Import({From(), checkpoint}, kRuns).model.model;
  }

  const RawTensors expected_;
  const TemporaryDirectory folder_;
};

TEST_P(FamiliesTest, LogitsLossAndGradientsEqualTransformers) {
  const ModelConfig model = ImportTo(Path("checkpoint"));
  const std::unique_ptr<Decoder> decoder = Loaded(model, Path("checkpoint"));
  const Tensor tokens = TensorOf(expected_.at("input_ids"));
  const double logits = RelativeNorm(decoder->Logits(tokens), TensorOf(expected_.at("logits")));
  EXPECT_LT(logits, kTolerance);
  const double loss = TensorOf(expected_.at("loss")).item<float>();
  EXPECT_NEAR(LossWithGradients(decoder.get(), tokens), loss, kTolerance * loss);
  const RawTensors gradients = GradientsOf(decoder.get(), model);
  LargestDistance largest;
  size_t compared = 0;
  for (const auto& [name, raw] : expected_) {
    if (!name.starts_with(kGradient)) continue;
    const std::string weight = StoredName(name.substr(std::strlen(kGradient)), gradients);
    ASSERT_TRUE(gradients.contains(weight)) << weight;
    const double distance = RelativeNorm(TensorOf(gradients.at(weight)), TensorOf(raw));
    EXPECT_LT(distance, kTolerance) << weight;
    if (distance >= largest.value) largest = {distance, weight};
    ++compared;
  }
  EXPECT_EQ(compared, gradients.size());
  std::cout << GetParam() << ": logits " << logits << ", worst gradient " << largest.value << " ("
            << largest.name << ")\n";
}

TEST_P(FamiliesTest, ARoundTripChangesNoByte) {
  ImportTo(Path("checkpoint"));
  Export({Path("checkpoint"), Path("out")}, kRuns);
  EXPECT_EQ(WeightsOf(Path("out")), WeightsOf(From()));
}

INSTANTIATE_TEST_SUITE_P(All, FamiliesTest,
                         testing::Values("llama", "llama31", "qwen3_tied", "qwen3_untied", "olmo",
                                         "gpt2", "gpt_neox", "mixtral", "qwen3_moe", "deepseek_v3",
                                         "deepseek_v3_no_query_rank", "deepseek_v2_lite", "qwen2"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace trainyard::trainer
