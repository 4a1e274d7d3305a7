// Constants of a trainer: the speed of its kernels, and the share of its communication that does
// not overlap its own work.
//
// The product plans only for trainyard-trainer. The tests describe other trainers with these
// constants, in order to check the formulas against published runs of many sizes.
#ifndef TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_
#define TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_

namespace trainyard::planner {

struct TrainerProfile {
  // Matrix products. Very large products reach the share `products` of the device's sustained rate.
  // A product of m, n and k elements reaches products / (1 + product_margin * (1/m + 1/n + 1/k)).
  // For example, if one dimension equals `product_margin` and the others are large, the rate is
  // half.
  double products = 1;
  double product_margin = 0;
  // Products of experts. In the forward pass and for input gradients, products with fewer than
  // grouped_below multiply-adds per expert run as one kernel for all experts, at grouped_products
  // times the rate of single products. All other products run as one product per expert. Each of
  // these takes seconds_per_expert_product longer than its part of one large product.
  // added_exposed is the visible share of the time for adding weight gradients to existing
  // values.
  double grouped_below = 0;
  double grouped_products = 1;
  double seconds_per_expert_product = 0;
  double added_exposed = 0;
  // Visible wait for the number of rows of each expert, in each forward pass of a layer.
  double seconds_per_routing = 0;
  // Rows of the busiest rank relative to the mean of the ranks that share experts.
  double expert_imbalance = 1;

  // Attention. The rates are shares of the device's peak rate, for long samples and heads of 128.
  // Samples of length attention_half_length reach half of the rate. scores_forward and
  // scores_backward are the memory traffic in bytes per score of a head. Both are 0 for fused
  // attention, which also skips the masked half.
  double attention_forward = 0;
  double attention_backward = 0;
  double attention_half_length = 0;
  double heads_of_64 = 1;  // Rate for heads of 64 relative to heads of 128.
  double scores_forward = 0;
  double scores_backward = 0;

  // Memory-bound work. `memory` is the share of the memory bandwidth that is reached. `elementwise`
  // is the memory traffic relative to kernels that read each input once and write each output once.
  double memory = 0;
  double elementwise = 1;
  double bytes_per_logit = 0;
  double bytes_per_parameter = 0;      // Optimizer update with fp32 moments.
  double bytes_per_norm_gradient = 0;  // Reads of gradients for their norm.
  double seconds_per_block = 0;        // Fixed time of a block's passes, independent of size.
  double seconds_per_step = 0;
  // True if selective recomputation repeats the scores of unfused attention. If false, the
  // recomputation repeats the norms and the activation function.
  bool selective_makes_scores = false;

  // Communication. `node_link` and `network` are the reached shares of the links' bandwidths. Each
  // *_exposed value is the share of a transfer's time that does not overlap other work.
  double node_link = 0;
  double network = 0;
  double tensor_exposed = 1;
  double tensor_pair = 1;  // Factor on tensor_exposed for two ranks.
  double context_exposed = 1;
  double heads_exposed = 1;  // Exchange of tokens for heads.
  double pipeline_exposed = 1;
  // The share of the expert transfers' time that the products of a shared expert hide.
  double expert_hidden = 0;
  // All-to-all. The reached share of a node's links (0: node_link), and the latency in addition to
  // that of the links.
  double exchange_link = 0;
  double exchange_latency = 0;
  // Deferred weight gradients. zero_bubble_left is the share of the bubble that remains.
  // zero_bubble_work is the extra time of the backward pass, as a share of its time.
  double zero_bubble_left = 1.0 / 3;
  double zero_bubble_work = 0;
  // Data parallelism. A transfer that overlaps other work still takes multiprocessors and bandwidth
  // from that work. Such a transfer lengthens the step by this share of the transfer's time. A
  // transfer that does not overlap other work lengthens the step by its whole time.
  double data_exposed = 1;
  // True if each tensor-parallel rank sends only its part of the activations to the next stage. Has
  // no effect with sequence parallelism.
  bool scatters_boundaries = false;
  double gradient_bytes = 4;  // Bytes per parameter in gradient sums.
  // The relative slowdown for each doubling of the number of nodes, because all nodes wait for the
  // slowest device.
  double per_doubling = 0;
};

// Returns the profile of trainyard-trainer in bf16, based on the figures in trainer/README.md (one
// to four H200).
const TrainerProfile& TrainyardProfile();

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_
