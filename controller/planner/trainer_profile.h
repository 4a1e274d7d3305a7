// Constants of a trainer: the speed of its kernels, and the share of its communication that does
// not overlap its own work.
//
// The product plans only for trainyard-trainer. The tests describe other trainers with the same
// constants, so that the formulas are checked against published runs of many sizes.
#ifndef TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_
#define TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_

namespace trainyard::planner {

struct TrainerProfile {
  // Matrix products. `products` is the share of the device's sustained rate that very large
  // products reach. A product of m, n and k elements runs at products / (1 + product_margin * (1/m
  // + 1/n + 1/k)). For example, one dimension of `product_margin` elements halves the rate if the
  // others are large.
  double products = 1;
  double product_margin = 0;

  // Attention. The rates are shares of the device's peak rate, for long samples and heads of 128.
  // At attention_half_length half of the rate is reached. scores_forward and scores_backward are
  // the bytes read and written in memory per score of a head. They are 0 for fused attention, which
  // also skips the masked half.
  double attention_forward = 0;
  double attention_backward = 0;
  double attention_half_length = 0;
  double heads_of_64 = 1;  // Rate for heads of 64 relative to heads of 128.
  double scores_forward = 0;
  double scores_backward = 0;

  // Memory-bound work. `memory` is the share of the memory bandwidth that is reached. `elementwise`
  // is the number of bytes read and written, relative to kernels that read each input and write
  // each output once.
  double memory = 0;
  double elementwise = 1;
  double bytes_per_logit = 0;
  double bytes_per_parameter = 0;      // Optimizer update with fp32 moments.
  double bytes_per_norm_gradient = 0;  // Reads of gradients for their norm.
  double seconds_per_block = 0;        // Time of a block's passes at any size.
  double seconds_per_step = 0;
  // True if selective recomputation repeats the scores of unfused attention. If false, it repeats
  // the norms and the activation function.
  bool selective_makes_scores = false;

  // Communication. node_link and `network` are the shares of a link's bandwidth that are reached.
  // The *_exposed values are the shares of transfer times that do not overlap other work.
  double node_link = 0;
  double network = 0;
  double tensor_exposed = 1;
  double tensor_pair = 1;  // Factor on tensor_exposed for two ranks.
  double context_exposed = 1;
  double pipeline_exposed = 1;
  double expert_exposed = 1;
  // Deferred weight gradients. zero_bubble_left is the remaining share of the bubble.
  // zero_bubble_work is the extra work in the backward pass, relative to that pass.
  double zero_bubble_left = 1.0 / 3;
  double zero_bubble_work = 0;
  // Data parallelism. The share by which transfers that overlap other work still lengthen the step.
  // It is not 0, because the transfers take multiprocessors and bandwidth from that work. Transfers
  // that do not overlap other work lengthen the step by their whole duration.
  double data_exposed = 1;
  // Matters only without sequence parallelism. True if each tensor-parallel rank sends only its
  // part of the activations to the next stage.
  bool scatters_boundaries = false;
  double gradient_bytes = 4;  // Bytes per parameter when gradients are summed.
  // The relative loss of time, because all nodes wait for the slowest device, each time the number
  // of nodes doubles.
  double per_doubling = 0;
};

// Returns the profile of trainyard-trainer in bf16. It is based on the figures in trainer/README.md
// (one to four H200).
const TrainerProfile& TrainyardProfile();

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_
