#include "controller/planner/trainer_profile.h"

namespace trainyard::planner {

// Not fitted to measured step times:
// - The rates of attention and memory and the bytes of kernels come from the table of one step's
//   kernels and from the timings under "Decisions" in trainer/README.md.
// - The rates of experts' products come from the table of products under "Decisions for mixtures
//   of experts" in trainer/README.md: with these constants, the table's 21 rates of the loop and
//   the grouped kernel are predicted with a mean error of 5 %. The same section has the all-to-all,
//   the part of it that products hide, and the wait for the numbers of rows.
// - expert_imbalance is an assumption: a router that a loss or a bias balances.
// - product_margin comes from matrix products of 768 to 128,256 columns on an H200.
// - `network` and `per_doubling` were not measured with this trainer. They are the values of NeMo
//   on H100 (tests/controller/planner/measured_profiles.cpp).
//
// Fitted to measured runs, which therefore cannot test the prediction:
// - attention_half_length: 1.5B model at length 8192. The rates at 2,048 and, for heads of 64, at
//   1,024 are kept.
// - products: 1.5B model.
// - tensor_exposed: TP4 on four GPUs; tensor_pair: TP2; context_exposed: CP2.
// - heads_exposed: CP2 of 1.5B with exchanged heads: waits of 3 ms, and compute that takes 14 ms
//   longer than on one GPU, in addition to the copies of heads.
// - pipeline_exposed: PP2 with 1F1B.
// - zero_bubble_left and zero_bubble_work: PP2 zero-bubble, where waits fell from 47 to 31 ms and
//   compute grew from 467 to 473 ms.
// - data_exposed: ZeRO 1 on four GPUs.
//
// A value above 1 means that a transfer also slows down concurrent work.
const TrainerProfile& TrainyardProfile() {
  static constexpr TrainerProfile kProfile = {
      .products = 1.01,
      .product_margin = 20,
      .grouped_below = 16e9,
      .grouped_products = 0.92,
      .seconds_per_expert_product = 4.5e-6,
      .added_exposed = 0.8,
      .seconds_per_routing = 30e-6,
      .expert_imbalance = 1.1,
      .attention_forward = 0.665,
      .attention_backward = 0.462,
      .attention_half_length = 928,
      .heads_of_64 = 0.75,
      .memory = 0.83,
      .elementwise = 1,
      .bytes_per_logit = 5,
      .bytes_per_parameter = 28,
      .bytes_per_norm_gradient = 4,
      .seconds_per_block = 10e-6,
      .seconds_per_step = 0.5e-3,
      .node_link = 0.86,
      .network = 0.8,
      .tensor_exposed = 1.116,
      .tensor_pair = 1.42,
      .context_exposed = 1.9,
      .heads_exposed = 0.7,
      .pipeline_exposed = 1.094,
      .expert_hidden = 0.55,
      .exchange_link = 0.66,
      .exchange_latency = 20e-6,
      .zero_bubble_left = 0.66,
      .zero_bubble_work = 0.019,
      .data_exposed = 1.08,
      .per_doubling = 0.0034,
  };
  return kProfile;
}

}  // namespace trainyard::planner
