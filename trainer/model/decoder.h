// A decoder-only transformer made of parts. Today's parts are the LLaMA family's: RMSNorm, rotary
// positions, grouped-query attention, SwiGLU, tied or untied head.
#ifndef TRAINYARD_TRAINER_MODEL_DECODER_H_
#define TRAINYARD_TRAINER_MODEL_DECODER_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/model/parameter_store.h"
#include "trainer/ops/rotary.h"

namespace trainyard::trainer {

// Positions of one block's parameters in the store.
struct BlockParameters {
  int64_t input_norm = 0;
  int64_t query_key_value = 0;
  int64_t attention_output = 0;
  int64_t ffn_norm = 0;
  int64_t gate_up = 0;
  int64_t down = 0;
};

// Everything that the blocks of one forward pass share.
struct BlockContext {
  const ModelConfig& model;
  const RotaryTable& rotary;
  int64_t batch = 0;
  int64_t length = 0;
};

// One transformer block: [batch * length, hidden] to the same shape. A class of its own so that
// recomputation, pipeline stages and blocks with a hand-written backward pass work on it.
class DecoderBlock {
 public:
  // Adds the block's declarations; `layer` counts from 0 over the whole model.
  static BlockParameters Declare(const ModelConfig& model, int64_t layer,
                                 std::vector<ParameterDeclaration>& declarations);

  DecoderBlock(const BlockParameters& parameters, const ParameterStore& store)
      : parameters_(parameters), store_(&store) {}

  torch::Tensor Forward(const torch::Tensor& x, const BlockContext& context) const;

 private:
  torch::Tensor Attend(const torch::Tensor& x, const BlockContext& context) const;
  torch::Tensor FeedForward(const torch::Tensor& x, const BlockContext& context) const;

  BlockParameters parameters_;
  const ParameterStore* store_;
};

struct DecoderOptions {
  torch::ScalarType type = torch::kFloat32;
  torch::Device device = torch::kCPU;
  Recompute recompute = Recompute::kNone;
  std::optional<uint64_t> seed = 1234;  // Of the initial values; none: a checkpoint follows.
};

// Not copyable: blocks point to its parameters. One thread at a time.
class Decoder {
 public:
  Decoder(const ModelConfig& model, const DecoderOptions& options);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // tokens: int64 [batch, length + 1] on the device. Returns the summed loss of predicting each
  // token from those before it, batch * length terms, as an fp64 scalar.
  torch::Tensor SumLoss(const torch::Tensor& tokens);

  // tokens: int64 [batch, length]. Returns [batch, length, vocabulary] in the model's type.
  torch::Tensor Logits(const torch::Tensor& tokens);

  ParameterStore& parameters() { return *parameters_; }

 private:
  torch::Tensor FinalHidden(const torch::Tensor& tokens);
  const RotaryTable& Rotary(int64_t length);

  ModelConfig model_;
  DecoderOptions options_;
  int64_t embedding_ = 0;
  int64_t final_norm_ = 0;
  int64_t head_ = 0;  // The embedding when they are tied.
  std::unique_ptr<ParameterStore> parameters_;
  std::vector<DecoderBlock> blocks_;
  RotaryTable rotary_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_DECODER_H_
