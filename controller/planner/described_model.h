// Parameters of models as documents describe them, also of those that trainyard-trainer cannot
// train: mixtures of experts and latent attention. Pure functions.
#ifndef TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_MODEL_H_
#define TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_MODEL_H_

#include <cstdint>
#include <optional>

#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Feed-forward layers of which each token passes through a few.
struct ExpertShape {
  int64_t count = 0;                   // In each layer that has experts; 0: a dense model.
  int64_t topk = 0;                    // That a token passes through.
  int64_t ffn_hidden_size = 0;         // Of one expert; 0: that of the model.
  int64_t shared_ffn_hidden_size = 0;  // Of those that every token passes through, in all.
  int64_t dense_layers = 0;            // First layers, which have no experts.
};

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): queries, keys and values are made
// from vectors of a lower rank.
struct LatentAttention {
  int64_t query_rank = 0;   // 0: queries are made from the hidden state itself.
  int64_t key_rank = 0;     // Of keys and values; 0: there is no latent attention.
  int64_t head_size = 0;    // Of the part of a query or key without positions.
  int64_t rotary_size = 0;  // Of the part with rotary positions; all heads share a key's.
  int64_t value_size = 0;
};

// Parts of a run that a document describes and trainyard-trainer lacks. By default there is none.
struct DescribedParts {
  ExpertShape experts;
  LatentAttention latent;
  // No expert is cut over tensor-parallel ranks (Megatron-LM's expert-tensor-parallel-size 1), so
  // that ep lies in tp * cp * dp; else it lies in dp.
  bool has_whole_experts = false;
  bool is_fp8 = false;  // Matrix products of the blocks; the head and attention stay in bf16.

  bool IsEmpty() const { return experts.count == 0 && latent.key_rank == 0 && !is_fp8; }
};

struct DescribedModel {
  ModelConfig dense;  // Resolved: num_query_groups is given. All but the two below.
  ExpertShape experts;
  LatentAttention latent;
};

struct ParameterSum {
  int64_t total = 0;
  int64_t active = 0;  // That one token is computed with, the embedding included.
};

// Width of one expert.
int64_t ExpertWidth(const DescribedModel& model);

// Of a dense model the same as ParameterCount (proto/contract/model_size.h). Biases of experts and
// of latent attention are not counted: no such model has them. nullopt when a sum is above 2^63.
std::optional<ParameterSum> CountParameters(const DescribedModel& model);

// 6 FLOP for each active weight of a matrix product, and those of attention, for one token.
double DescribedFlopsPerToken(const DescribedModel& model, int64_t seq_length);

// Width of an expert with which the model would have `total` parameters; 0 where none would.
int64_t ExpertWidthFor(const DescribedModel& model, double total);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_MODEL_H_
