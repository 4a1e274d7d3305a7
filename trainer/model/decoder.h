// A decoder-only transformer made of parts: RMSNorm or LayerNorm, rotary or learned positions,
// grouped-query attention, with or without norms of its heads, feed-forward layers with or without
// a gate, biases or none, branches one after the other or side by side, tied or untied head.
// Settings choose them: LLaMA 2, 3 and 3.1, Qwen3, OLMo, GPT-2, GPT-3 and GPT-NeoX.
#ifndef TRAINYARD_TRAINER_MODEL_DECODER_H_
#define TRAINYARD_TRAINER_MODEL_DECODER_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proto/contract/run_config.h"
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
  torch::ScalarType type = torch::kFloat32;  // fp64 too, for tests.
  torch::Device device = torch::kCPU;
  BlockOptions blocks = {};
  DocumentOptions documents = {};
  int64_t recomputed_layers = 0;        // First blocks of each chunk that recompute; 0: all.
  std::optional<uint64_t> seed = 1234;  // Of the initial values; none: a checkpoint follows.
  StoreParts parts = {};                // This rank's part of state, gradients and values.
  ModelParallel parallel = {};          // This rank's part of the model.
};

// Token rows with the weight of each prediction in the loss.
struct TrainingTokens {
  torch::Tensor tokens;        // int64 [batch, length + 1] on the device.
  torch::Tensor loss_weights;  // fp32 [batch * length], or fp64 where the model is.
};

// The chunks of the model that this rank has: layers, the embedding where the model begins, the
// head where it ends. Parameter groups are in the order of the backward pass: chunks from the last
// to the first, in each the head, blocks from the last to the first, the embedding, learned
// positions. A tied head's weight is the embedding's; where the two are on different ranks, both
// have it as the group kEmbeddingGroup and a part of its gradient. Not copyable: parts point to its
// parameters. One thread at a time.
class Decoder {
 public:
  static constexpr char kEmbeddingGroup[] = "embedding";
  // Apart from the embedding's, which the last stage may have too.
  static constexpr char kPositionGroup[] = "positions";
  static constexpr char kHeadGroup[] = "head";  // The final norm, and a matrix of its own.

  Decoder(const ModelConfig& model, const DecoderOptions& options);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // The logical tensor that the head multiplies with: the embedding's where the head is tied.
  static const char* HeadTensor(const ModelConfig& model);

  const PipelinePlace& place() const { return options_.parallel.pipeline; }
  ParameterStore& parameters() { return *parameters_; }
  // Groups of a chunk in the order of the forward pass.
  std::vector<int64_t> GroupsOf(int64_t chunk) const;
  // The group of the tied weight where this rank and another stage have it; -1 where none is.
  int64_t shared_embedding_group() const { return shared_embedding_group_; }

  // Is asked before weights are used; must outlive this. By default they are always there.
  void UseWeights(WeightAccess& access) { access_ = &access; }

  // The tokens of a micro-batch that this rank has, for one pass through a chunk.
  MicroBatch Begin(int64_t chunk, const TrainingTokens& batch, Stash::Mode mode) const;
  // An empty tensor of the form that goes from chunk to chunk, for samples of `length` tokens over
  // all ranks.
  torch::Tensor NewActivations(int64_t samples, int64_t length) const;

  // Runs the blocks. x: the output of the part before, undefined where the embedding is.
  torch::Tensor Forward(int64_t chunk, torch::Tensor x, MicroBatch& micro_batch) const;
  // The chunk with the head only. Adds the weighted sum of the losses of this rank's tokens to
  // `loss`, an fp64 scalar on the device: the same on all tensor-parallel ranks. Returns the
  // gradient of x.
  torch::Tensor LossAndGradient(const torch::Tensor& x, const MicroBatch& micro_batch,
                                torch::Tensor& loss, WeightGradients& gradients) const;
  void Loss(const torch::Tensor& x, const MicroBatch& micro_batch, torch::Tensor& loss) const;
  // The gradient of the chunk's x; undefined where the embedding is.
  torch::Tensor Backward(int64_t chunk, torch::Tensor dy, MicroBatch& micro_batch,
                         WeightGradients& gradients) const;

  // The whole model on one rank: one micro-batch forward and backward.
  void ForwardBackward(const TrainingTokens& batch, torch::Tensor& loss,
                       WeightGradients& gradients) const;
  void Loss(const TrainingTokens& batch, torch::Tensor& loss) const;
  // tokens: int64 [batch, length]. Returns [batch, length, vocabulary] in the model's type.
  torch::Tensor Logits(const torch::Tensor& tokens) const;

 private:
  // Numbers of groups; -1 where the chunk has none.
  struct Chunk {
    std::vector<Block> blocks;
    std::vector<int64_t> block_groups;  // By block.
    int64_t head_group = -1;
    int64_t embedding_group = -1;
    int64_t position_group = -1;
  };

  // Declares groups, and remembers where they are.
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
  int64_t head_weight_group_ = -1;  // Of the head's matrix.
  int64_t shared_embedding_group_ = -1;
  mutable WeightAccess always_there_;
  WeightAccess* access_ = &always_there_;
  // Of the length that was last asked for: this rank's positions of a sample, or all of them where
  // documents have positions of their own.
  mutable RotaryTable rotary_;
  mutable int64_t rotary_length_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_DECODER_H_
