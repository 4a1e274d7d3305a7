// Constants of a trainer's kernels and of how much of its communication its own work hides.
//
// The product plans for trainyard-trainer. The tests describe other trainers in the same terms, so
// that the formulas are checked against runs of many sizes that others have published.
#ifndef TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_
#define TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_

namespace trainyard::planner {

struct TrainerProfile {
  // Matrix products: part of the device's sustained rate that large ones reach. A dimension of
  // `product_margin` elements would halve it; a product of m, n and k elements runs at
  // products / (1 + product_margin * (1/m + 1/n + 1/k)).
  double products = 1;
  double product_margin = 0;

  // Attention: part of the device's peak rate at long samples and heads of 128, and the length at
  // which half of that is reached. `scores`: bytes that each score of a head moves through memory,
  // forward and backward; 0 for fused attention, which also leaves out the masked half.
  double attention_forward = 0;
  double attention_backward = 0;
  double attention_half_length = 0;
  double heads_of_64 = 1;  // Rate of heads of 64, relative to heads of 128.
  double scores_forward = 0;
  double scores_backward = 0;

  // Memory-bound work: part of the memory's bandwidth, and bytes that it moves, relative to kernels
  // that read each input and write each output once.
  double memory = 0;
  double elementwise = 1;
  double bytes_per_logit = 0;
  double bytes_per_parameter = 0;      // The update, with moments in fp32.
  double bytes_per_norm_gradient = 0;  // Reading the gradients for their norm.
  double seconds_per_block = 0;  // Of a block's forward and backward pass that no size changes.
  double seconds_per_step = 0;
  // Selective recomputation makes norms and activation again, or the scores of unfused attention.
  bool selective_makes_scores = false;

  // Communication: part of a link's bandwidth, and parts of the time of transfers that stay
  // visible.
  double node_link = 0;
  double network = 0;
  double tensor_exposed = 1;
  double tensor_pair = 1;  // So many times as much is visible where only two ranks exchange.
  double context_exposed = 1;
  double pipeline_exposed = 1;
  double expert_exposed = 1;
  // Deferred weight gradients: part of the bubble that they leave, and work that they add to the
  // backward pass, relative.
  double zero_bubble_left = 1.0 / 3;
  double zero_bubble_work = 0;
  // Data parallel: visible part of what would fit under other work, since it takes multiprocessors
  // and bandwidth from that. What does not fit is visible as a whole.
  double data_exposed = 1;
  // Without sequence parallelism: each tensor-parallel rank sends a part to the next stage.
  bool scatters_boundaries = false;
  double gradient_bytes = 4;  // Of each parameter when gradients are summed.
  // Seconds lost to the slowest device, relative, for each doubling of the nodes.
  double per_doubling = 0;
};

// trainyard-trainer in bf16, by the figures of trainer/README.md (one to four H200).
const TrainerProfile& TrainyardProfile();

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_
