#include "tests/controller/planner/measured_runs.h"

namespace trainyard::planner {

// The constants products, product_margin, elementwise and tensor_exposed are fitted to the rows
// "22B full", "22B selective" and "175B full". The other constants are assumptions, or byte counts
// from the papers' description of the kernels.
TrainerProfile MegatronA100Profile() {
  return {.products = 1.0,
          .product_margin = 186.3,
          .attention_forward = 0.5,
          .scores_forward = 13,
          .scores_backward = 20,
          .memory = 0.83,
          .elementwise = 2.121,
          .bytes_per_logit = 24,
          .bytes_per_parameter = 32,
          .bytes_per_norm_gradient = 4,
          .seconds_per_block = 100e-6,
          .seconds_per_step = 5e-3,
          .selective_makes_scores = true,
          .node_link = 0.8,
          .network = 0.8,
          .tensor_exposed = 0.719,
          .scatters_boundaries = true};
}

// The constants products, product_margin, elementwise, tensor_exposed and per_doubling are fitted
// to the rows "8B x8", "8B x128", "15B x16", "175B x128" and "405B, 7 layers x32". The other
// constants are assumptions. Attention uses cuDNN, as in trainyard-trainer.
TrainerProfile MegatronH100Profile() {
  return {.products = 0.9462,
          .product_margin = 55.48,
          .attention_forward = 0.5,
          .attention_backward = 0.4,
          .attention_half_length = 400,
          .memory = 0.83,
          .elementwise = 1.485,
          .bytes_per_logit = 12,
          .bytes_per_parameter = 32,
          .bytes_per_norm_gradient = 4,
          .seconds_per_block = 50e-6,
          .seconds_per_step = 5e-3,
          .node_link = 0.8,
          .network = 0.8,
          .tensor_exposed = 0.5542,
          .context_exposed = 0.5,
          .pipeline_exposed = 0.5,
          .data_exposed = 0.5,
          .per_doubling = 0.003372};
}

// The constants products, product_margin, elementwise, attention_backward, data_exposed and
// seconds_per_block are fitted to the rows "1B", "1B, 8192", "7B", "7B, 1024, recomputed" and
// "13B". Heads of size 64 are hardly slower on an A100 (FlashAttention-2, arXiv 2307.08691, figure
// 4).
TrainerProfile FoundryProfile() {
  return {.products = 1.12,
          .product_margin = 210.5,
          .attention_forward = 0.45,
          .attention_backward = 0.24,
          .attention_half_length = 100,
          .heads_of_64 = 0.95,
          .memory = 0.83,
          .elementwise = 3.2,
          .bytes_per_logit = 24,
          .bytes_per_parameter = 60,
          .bytes_per_norm_gradient = 4,
          .seconds_per_block = 200e-6,
          .seconds_per_step = 10e-3,
          .node_link = 0.8,
          .network = 0.8,
          .data_exposed = 0.8745};
}

}  // namespace trainyard::planner
