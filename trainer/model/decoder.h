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
#include "trainer/model/block.h"
#include "trainer/model/head.h"
#include "trainer/model/parameter_store.h"
#include "trainer/model/weight_gradients.h"
#include "trainer/ops/rotary.h"

namespace trainyard::trainer {

struct DecoderOptions {
  torch::ScalarType type = torch::kFloat32;  // fp64 too, for tests.
  torch::Device device = torch::kCPU;
  BlockOptions blocks = {};
  std::optional<uint64_t> seed = 1234;  // Of the initial values; none: a checkpoint follows.
  StateShard state = {};                // This rank's part of the optimizer's state.
};

// Token rows with the weight of each prediction in the loss.
struct TrainingTokens {
  torch::Tensor tokens;        // int64 [batch, length + 1] on the device.
  torch::Tensor loss_weights;  // fp32 [batch * length], or fp64 where the model is.
};

// Parameter groups, in the order of the backward pass: head, blocks from the last to the first,
// embedding. A tied head's weight is the embedding's. Not copyable: parts point to its parameters.
// One thread at a time.
class Decoder {
 public:
  Decoder(const ModelConfig& model, const DecoderOptions& options);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Adds the weighted sum of the losses of predicting each token from those before it to `loss`, an
  // fp64 scalar on the device, and its gradients to those of the parameters.
  void ForwardBackward(const TrainingTokens& batch, torch::Tensor& loss,
                       WeightGradients& gradients) const;

  // Adds the weighted sum of the losses to `loss`.
  void Loss(const TrainingTokens& batch, torch::Tensor& loss) const;

  // tokens: int64 [batch, length]. Returns [batch, length, vocabulary] in the model's type.
  torch::Tensor Logits(const torch::Tensor& tokens) const;

  ParameterStore& parameters() { return *parameters_; }

 private:
  const RotaryTable& Rotary(int64_t length) const;
  torch::Tensor Hidden(const torch::Tensor& tokens, MicroBatch& micro_batch) const;

  ModelConfig model_;
  DecoderOptions options_;
  std::unique_ptr<ParameterStore> parameters_;
  int64_t embedding_ = 0;      // Parameter.
  std::vector<Block> blocks_;  // By layer.
  std::optional<Head> head_;
  mutable RotaryTable rotary_;  // Of the length that was last asked for.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_DECODER_H_
