// A training run as described by a document, with the figures claimed in the document.
#ifndef TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_RUN_H_
#define TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/planner/amount.h"
#include "controller/planner/described_model.h"

namespace trainyard::planner {

struct Range {
  double low = 0;
  double high = 0;
};

// Same meanings as in Megatron-LM; 0 means not given.
struct DescribedLayout {
  int64_t gpus = 0;
  int64_t tensor = 1;
  int64_t pipeline = 1;
  int64_t context = 1;
  int64_t expert = 1;
  int64_t expert_tensor = 0;  // 0: same as `tensor`.
  int64_t chunks = 1;         // Per pipeline stage.
  int64_t zero = 1;           // 1: shards optimizer states; 2: also gradients; 3: also weights.
  Recompute recompute = Recompute::kNone;
  bool sequence_parallel = false;
  bool uneven_pipeline = false;  // Stages may differ in their number of layers.
};

struct DescribedBatch {
  int64_t seq_length = 0;
  int64_t global_batch = 0;
  int64_t micro_batch = 0;
  int64_t steps = 0;
  int64_t samples = 0;
  double tokens = 0;
  int64_t warmup_samples = 0;
};

// A scaling law as coefficients and exponents: N = n * C^n_exponent, D = d * C^d_exponent.
struct DescribedLaw {
  double n = 0;
  double n_exponent = 0;
  double d = 0;
  double d_exponent = 0;
};

// Figures claimed in the document in addition to the settings that determine them.
struct Claims {
  std::optional<Amount> parameters;
  std::optional<Amount> active_parameters;
  std::optional<Amount> tokens;
  std::optional<Amount> warmup_tokens;
  std::optional<Amount> flops;
  std::optional<Amount> loss;
  std::optional<double> data_parallel;
  std::optional<double> tokens_per_parameter;
  std::optional<Range> tokens_per_second;  // All GPUs together.
  std::optional<Range> mfu;                // For example 0.35 to 0.4.
  std::optional<Range> hours;
  double peak_flops = 0;  // Peak rate of the device that the rates refer to; 0 if unknown.
};

struct DescribedRun {
  std::string name;
  DescribedModel model;
  bool has_model = false;             // False for documents with figures only.
  bool has_latent_attention = false;  // Mentioned, possibly without its ranks.
  bool has_query_groups = false;
  bool is_fp8 = false;
  DescribedBatch batch;
  DescribedLayout layout;
  std::vector<double> blend;
  DescribedLaw law;
  Claims claims;
};

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_RUN_H_
