// Parameter counts of models described by documents, including models that trainyard-trainer cannot
// train: mixtures of experts and latent attention. Pure functions.
#ifndef TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_MODEL_H_
#define TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_MODEL_H_

#include <cstdint>
#include <optional>

#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Feed-forward experts, of which each token uses a few.
struct ExpertShape {
  int64_t count = 0;                   // Per layer with experts; 0 for a dense model.
  int64_t topk = 0;                    // Experts used by a token.
  int64_t ffn_hidden_size = 0;         // Width of one expert; 0: the model's.
  int64_t shared_ffn_hidden_size = 0;  // Total over the shared experts, which every token uses.
  int64_t dense_layers = 0;            // First layers, without experts.
};

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): queries, keys and values are
// computed from vectors of a lower rank.
struct LatentAttention {
  int64_t query_rank = 0;   // 0: queries are computed from the hidden state.
  int64_t key_rank = 0;     // Rank of keys and values; 0: no latent attention.
  int64_t head_size = 0;    // Part of a query or key without positions.
  int64_t rotary_size = 0;  // Part with rotary positions; all heads share a key's.
  int64_t value_size = 0;
};

// Features that a document describes and trainyard-trainer lacks. None by default.
struct DescribedParts {
  ExpertShape experts;
  LatentAttention latent;
  // Experts are not divided over tensor-parallel ranks (Megatron-LM's expert-tensor-parallel-size
  // 1), so ep is within tp * cp * dp; otherwise ep is within dp.
  bool has_whole_experts = false;
  bool is_fp8 = false;  // Matrix products of blocks; head and attention stay in bf16.

  bool IsEmpty() const { return experts.count == 0 && latent.key_rank == 0 && !is_fp8; }
};

struct DescribedModel {
  ModelConfig dense;  // Resolved, with num_query_groups. All but the two parts below.
  ExpertShape experts;
  LatentAttention latent;
};

struct ParameterSum {
  int64_t total = 0;
  int64_t active = 0;  // Used for one token, including the embedding.
};

// Width of one expert.
int64_t ExpertWidth(const DescribedModel& model);

// For a dense model, equals ParameterCount (proto/contract/model_size.h). Biases of experts and of
// latent attention are not counted, because no such model has them. nullopt if a sum exceeds 2^63.
std::optional<ParameterSum> CountParameters(const DescribedModel& model);

// FLOP per token: 6 for each active weight in a matrix product, plus those of attention.
double DescribedFlopsPerToken(const DescribedModel& model, int64_t seq_length);

// Expert width for which the model would have `total` parameters; 0 if there is none.
int64_t ExpertWidthFor(const DescribedModel& model, double total);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_MODEL_H_
