#include "trainer/checkpoint_tools/commands/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/model/model_fingerprint.h"
#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/read_tensor.h"
#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class ImportTest : public testing::Test {
 protected:
  std::string Out(const std::string& name = "out") const { return to_.path() + "/" + name; }
  const std::string& From() const { return from_.path(); }

  ImportSummary Run(const std::string& to, bool replace = false) const {
    return Import({From(), to, replace}, is_cancelled_);
  }
  // Expects this error and that no output was created.
  void ExpectFails(const std::string& to, ExitCode code, const std::string& part) const {
    EXPECT_THAT(ErrorOf([&] { Run(to); }, code), HasSubstr(part));
    EXPECT_THAT(to_.Names(), IsEmpty());
  }

  const TemporaryDirectory from_;
  const CheckpointDirectory to_;
  std::atomic<bool> is_cancelled_ = false;
};

TEST_F(ImportTest, WeightsOfStepZeroBitForBit) {
  for (const char* dtype : {"F32", "BF16", "F16"}) {
    const RawTensors tensors = TinyLlama(dtype);
    WriteHuggingFaceShards(From(), tensors);
    const ImportSummary summary = Run(Out(dtype));
    EXPECT_EQ(summary.tensors, 21);
    EXPECT_EQ(summary.files, 1);
    EXPECT_THAT(VerifyCheckpoint(Out(dtype)), IsEmpty());
    const CheckpointReader reader(Out(dtype));
    EXPECT_EQ(reader.step(), 0);
    EXPECT_EQ(reader.trainer_state()["samples"], 0);
    EXPECT_EQ(reader.trainer_state()["tokens"], 0);
    EXPECT_EQ(reader.model_fingerprint(), ModelFingerprint(summary.model.model));
    ASSERT_EQ(reader.tensors().size(), tensors.size());
    for (const auto& [name, tensor] : tensors) {
      const torch::Tensor values = ReadWhole(reader, name);
      EXPECT_EQ(values.sizes().vec(), tensor.shape);
      EXPECT_EQ(std::string(static_cast<const char*>(values.data_ptr()), values.nbytes()),
                tensor.bytes)
          << name;
    }
  }
}

TEST_F(ImportTest, TheJobFileFits) {
  WriteHuggingFace(From(), TinyLlama("F32"));
  const ImportOptions options = {From(), Out()};
  EXPECT_EQ(
      JobFileText(Import(options, false), options),
      "# " + Out() +
          ": LlamaForCausalLM, 21 tensors in 1 file of 90.7 KiB\n"
          "# To train from it, set checkpoint.resume_from to its path and use these settings:\n"
          "# (train.seq_length: the model supports samples of up to 128 tokens)\n"
          "# (config.json has keys without effect: pretraining_tp)\n"
          "model:\n"
          "  num_layers: 2\n"
          "  hidden_size: 32\n"
          "  ffn_hidden_size: 64\n"
          "  num_attention_heads: 4\n"
          "  num_query_groups: 2\n"
          "  vocab_size: 64\n"
          "  rotary_base: 500000.0\n"
          "  norm_epsilon: 1e-06\n"
          "  untie_embeddings_and_output_weights: true\n");
}

TEST_F(ImportTest, TensorsThatDoNotFitAreNamed) {
  RawTensors tensors = TinyLlama("F32");
  tensors.erase("model.norm.weight");
  tensors["model.layers.2.mlp.up_proj.weight"] = tensors["model.layers.1.mlp.up_proj.weight"];
  tensors["lm_head.weight"].shape = {32, 64};
  WriteHuggingFace(From(), tensors);
  EXPECT_THAT(
      ErrorOf([&] { Run(Out()); }, ExitCode::kBadCheckpoint),
      AllOf(HasSubstr("does not match its config.json: it lacks tensors: model.norm.weight;"),
            HasSubstr("other shapes: lm_head.weight [32, 64] instead of [64, 32];"),
            HasSubstr("the model lacks: model.layers.2.mlp.up_proj.weight")));
  EXPECT_THAT(to_.Names(), IsEmpty());
}

TEST_F(ImportTest, RotaryFrequenciesOfEarlierVersionsAreSkipped) {
  RawTensors tensors = TinyLlama("F32");
  tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = {"F32", {4}, std::string(16, '\0')};
  WriteHuggingFace(From(), tensors);
  EXPECT_EQ(Run(Out()).tensors, 21);
}

// In a model saved without its head, the tensor names lack the prefix "model.".
TEST_F(ImportTest, NamesWithoutThePrefix) {
  RawTensors bare;
  const RawTensors tensors = TinyLlama("F32", /*is_tied=*/true);
  for (const auto& [name, tensor] : tensors)
    bare[name.substr(std::string("model.").size())] = tensor;
  json config = TinyLlamaConfig();
  config["tie_word_embeddings"] = true;
  WriteHuggingFace(From(), bare, config);
  EXPECT_EQ(Run(Out()).tensors, 20);
  EXPECT_TRUE(CheckpointReader(Out()).Has("model.layers.1.mlp.up_proj.weight"));
}

// Some files of models with a tied head contain both the embedding and the head.
TEST_F(ImportTest, ATiedHeadMustEqualTheEmbedding) {
  RawTensors tensors = TinyLlama("F32", /*is_tied=*/true);
  tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"];
  json config = TinyLlamaConfig();
  config["tie_word_embeddings"] = true;
  WriteHuggingFace(From(), tensors, config);
  EXPECT_EQ(Run(Out()).tensors, 20);
  tensors["lm_head.weight"].bytes.back() ^= 1;
  WriteHuggingFace(From(), tensors, config);
  EXPECT_THAT(ErrorOf([&] { Run(Out("other")); }, ExitCode::kBadCheckpoint),
              HasSubstr("lm_head.weight with values that differ from model.embed_tokens.weight"));
}

TEST_F(ImportTest, DropoutsAreNamed) {
  json config = TinyLlamaConfig();
  config["attention_dropout"] = 0.1;
  WriteHuggingFace(From(), TinyLlama("F32"), config);
  const ImportOptions options = {From(), Out()};
  EXPECT_THAT(JobFileText(Import(options, false), options),
              HasSubstr("\n# (the model was trained with dropout, which this trainer does not "
                        "support: attention_dropout 0.1)\nmodel:\n"));
}

TEST_F(ImportTest, KeysWithoutEffectAreNamedOnce) {
  json config = TinyLlamaConfig();
  config.update({{"is_llama_config", true}, {"rope_interleaved", false}});
  WriteHuggingFace(From(), TinyLlama("F32"), config);
  const ImportOptions options = {From(), Out()};
  EXPECT_THAT(JobFileText(Import(options, false), options), HasSubstr("is_llama_config)\n"));
}

TEST_F(ImportTest, TypesOfWeights) {
  RawTensors tensors = TinyLlama("F32");
  tensors["model.norm.weight"] = {"I32", {32}, std::string(128, '\0')};
  WriteHuggingFace(From(), tensors);
  ExpectFails(Out(), ExitCode::kBadConfig,
              "model.norm.weight of type I32; weights must be F32, BF16 or F16");
}

TEST_F(ImportTest, BadDirectoriesAndNames) {
  ExpectFails(Out(), ExitCode::kBadCheckpoint, "it has no config.json");
  WriteHuggingFace(From(), TinyLlama("F32"));
  ExpectFails(Out("step_000000001"), ExitCode::kUsage, "must be called step_000000000");
  ExpectFails(From() + "/out", ExitCode::kUsage, "is inside that directory");
  WriteText(From() + "/config.json", "{");
  ExpectFails(Out(), ExitCode::kBadCheckpoint, "config.json is not JSON");
}

TEST_F(ImportTest, OnlyForceReplacesACheckpoint) {
  WriteHuggingFace(From(), TinyLlama("F32"));
  Run(Out("step_000000000"));
  EXPECT_THAT(ErrorOf([&] { Run(Out("step_000000000")); }, ExitCode::kCannotWrite),
              HasSubstr("replace the checkpoint with --force"));
  Run(Out("step_000000000"), /*replace=*/true);
  EXPECT_THAT(VerifyCheckpoint(Out("step_000000000")), IsEmpty());
}

TEST_F(ImportTest, AnInterruptionLeavesNothing) {
  WriteHuggingFace(From(), TinyLlama("F32"));
  is_cancelled_ = true;
  ExpectFails(Out(), ExitCode::kTerminated, "was not created: interrupted");
}

}  // namespace
}  // namespace trainyard::trainer
