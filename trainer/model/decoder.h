// A decoder-only transformer, configured by the settings: RMSNorm or LayerNorm, rotary or learned
// positions, grouped-query attention with or without head norms, feed-forward layers with or
// without a gate, with or without biases, sequential or parallel branches, tied or untied head.
// Covers LLaMA 2, 3 and 3.1, Qwen3, OLMo, GPT-2, GPT-3 and GPT-NeoX.
#ifndef TRAINYARD_TRAINER_MODEL_DECODER_H_
#define TRAINYARD_TRAINER_MODEL_DECODER_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/block.h"
#include "trainer/model/documents.h"
#include "trainer/model/embedding.h"
#include "trainer/model/head.h"
#include "trainer/model/model_parallel.h"
#include "trainer/model/parameter_store.h"
#include "trainer/model/weight_access.h"
#include "trainer/model/weight_gradients.h"
#include "trainer/ops/rotary.h"

namespace trainyard::trainer {

struct DecoderOptions {
  torch::ScalarType type = torch::kFloat32;  // Tests use fp64.
  torch::Device device = torch::kCPU;
  BlockOptions blocks = {};
  DocumentOptions documents = {};
  int64_t recomputed_layers = 0;        // First blocks of each chunk to recompute; 0: all.
  std::optional<uint64_t> seed = 1234;  // Seed of the initial values; none: loaded later.
  StoreParts parts = {};                // This rank's part of state, gradients, values.
  ModelParallel parallel = {};          // This rank's part of the model.
};

// Rows of tokens, with the loss weight of each prediction.
struct TrainingTokens {
  torch::Tensor tokens;        // int64 [batch, length + 1] on the device.
  torch::Tensor loss_weights;  // fp32 [batch * length]; fp64 for an fp64 model.
};

// This rank's chunks of the model: layers, the embedding if the model begins here, the head if it
// ends here. Parameter groups are in the order of the backward pass: chunks from last to first, and
// in each chunk the head, blocks from last to first, the embedding, learned positions. A tied head
// uses the embedding's weight. If the two are on different ranks, both ranks have it as group
// kEmbeddingGroup, each with a part of its gradient. Not copyable, because its parts refer to its
// parameters. Not thread-safe.
class Decoder {
 public:
  static constexpr char kEmbeddingGroup[] = "embedding";
  // A separate group, because the last stage may also have the embedding's group.
  static constexpr char kPositionGroup[] = "positions";
  static constexpr char kHeadGroup[] = "head";  // The final norm, and an untied matrix.

  Decoder(const ModelConfig& model, const DecoderOptions& options);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // The logical tensor of the head's matrix: the embedding's if the head is tied.
  static const char* HeadTensor(const ModelConfig& model);

  const PipelinePlace& place() const { return options_.parallel.pipeline; }
  ParameterStore& parameters() { return *parameters_; }
  // Groups of a chunk in the order of the forward pass.
  std::vector<int64_t> GroupsOf(int64_t chunk) const;
  // Group of a tied weight shared with another stage; -1 if none.
  int64_t shared_embedding_group() const { return shared_embedding_group_; }

  // Sets the object to call before and after weights are used; must outlive this. By default all
  // weights are always available.
  void UseWeights(WeightAccess& access) { access_ = &access; }

  // This rank's tokens of a micro-batch, for one pass through a chunk.
  MicroBatch Begin(int64_t chunk, const TrainingTokens& batch, Stash::Mode mode) const;
  // An empty tensor with the shape passed from chunk to chunk, for samples of `length` tokens over
  // all ranks.
  torch::Tensor NewActivations(int64_t samples, int64_t length) const;

  // Runs the chunk's blocks, after the embedding if the chunk has it. x: output of the previous
  // chunk; undefined on the chunk with the embedding.
  torch::Tensor Forward(int64_t chunk, torch::Tensor x, MicroBatch& micro_batch) const;
  // Only for the chunk with the head. Adds the weighted sum of the losses of this rank's tokens to
  // `loss`, an fp64 scalar on the device. The sum is the same on all tensor-parallel ranks. Returns
  // the gradient of x.
  torch::Tensor LossAndGradient(const torch::Tensor& x, const MicroBatch& micro_batch,
                                torch::Tensor& loss, WeightGradients& gradients) const;
  void Loss(const torch::Tensor& x, const MicroBatch& micro_batch, torch::Tensor& loss) const;
  // Returns the gradient of the chunk's input x; undefined on the chunk with the embedding.
  torch::Tensor Backward(int64_t chunk, torch::Tensor dy, MicroBatch& micro_batch,
                         WeightGradients& gradients) const;

  // Runs one micro-batch forward and backward, with the whole model on one rank.
  void ForwardBackward(const TrainingTokens& batch, torch::Tensor& loss,
                       WeightGradients& gradients) const;
  void Loss(const TrainingTokens& batch, torch::Tensor& loss) const;
  // tokens: int64 [batch, length]. Returns [batch, length, vocabulary] in the model's type.
  torch::Tensor Logits(const torch::Tensor& tokens) const;

 private:
  // Group indices are -1 if the chunk does not have the group.
  struct Chunk {
    std::vector<Block> blocks;
    std::vector<int64_t> block_groups;  // Group of each block.
    int64_t head_group = -1;
    int64_t embedding_group = -1;
    int64_t position_group = -1;
  };

  // Declares the groups and records their indices.
  class Groups;

  void MakeParts(const Groups& groups);
  const RotaryTable& Rotary(int64_t length) const;
  torch::Tensor LearnedPositions(const MicroBatch& micro_batch, int64_t length) const;
  torch::Tensor OnThisRank(const torch::Tensor& of_tokens) const;
  void MarkDocuments(const torch::Tensor& tokens, MicroBatch& micro_batch) const;

  ModelConfig model_;
  DecoderOptions options_;
  std::unique_ptr<ParameterStore> parameters_;
  std::vector<Chunk> chunks_;
  std::optional<Embedding> embedding_;
  std::optional<Head> head_;
  int64_t head_weight_group_ = -1;  // Group of the head's matrix.
  int64_t shared_embedding_group_ = -1;
  mutable WeightAccess always_there_;
  WeightAccess* access_ = &always_there_;
  // Table for rotary_length_: this rank's positions of a sample, or all positions if documents have
  // their own positions.
  mutable RotaryTable rotary_;
  mutable int64_t rotary_length_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_DECODER_H_
