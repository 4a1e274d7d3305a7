// Constants of a trainer's kernels, and the share of its communication that its own work hides.
//
// The product plans for trainyard-trainer. The tests describe other trainers with the same
// constants, so that the formulas are checked against published runs of many sizes.
#ifndef TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_
#define TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_

namespace trainyard::planner {

struct TrainerProfile {
  // Matrix products: `products` is the share of the device's sustained rate reached by large
  // products. A product of m, n and k elements runs at products / (1 + product_margin * (1/m + 1/n
  // + 1/k)), so one dimension of `product_margin` elements halves the rate.
  double products = 1;
  double product_margin = 0;

  // Attention: share of the device's peak rate for long samples and heads of 128, and the length at
  // which half of it is reached. `scores`: bytes moved through memory per score of a head, forward
  // and backward; 0 for fused attention, which also skips the masked half.
  double attention_forward = 0;
  double attention_backward = 0;
  double attention_half_length = 0;
  double heads_of_64 = 1;  // Rate for heads of 64, relative to heads of 128.
  double scores_forward = 0;
  double scores_backward = 0;

  // Memory-bound work: share of the memory bandwidth reached, and bytes moved, relative to kernels
  // that read each input and write each output once.
  double memory = 0;
  double elementwise = 1;
  double bytes_per_logit = 0;
  double bytes_per_parameter = 0;      // For the update, with moments in fp32.
  double bytes_per_norm_gradient = 0;  // For reading the gradients to compute their norm.
  double seconds_per_block = 0;  // Size-independent time of a block's forward and backward pass.
  double seconds_per_step = 0;
  // True if selective recomputation repeats the scores of unfused attention. If false, it repeats
  // norms and activation.
  bool selective_makes_scores = false;

  // Communication: share of a link's bandwidth reached, and visible share of transfer times.
  double node_link = 0;
  double network = 0;
  double tensor_exposed = 1;
  double tensor_pair = 1;  // Factor on the visible share in groups of two ranks.
  double context_exposed = 1;
  double pipeline_exposed = 1;
  double expert_exposed = 1;
  // Deferred weight gradients: remaining share of the bubble, and relative extra work in the
  // backward pass.
  double zero_bubble_left = 1.0 / 3;
  double zero_bubble_work = 0;
  // Data parallelism: visible share of transfers that fit beside other work. It is not 0, because
  // the transfers take multiprocessors and bandwidth from that work. Transfers that do not fit are
  // entirely visible.
  double data_exposed = 1;
  // True if, without sequence parallelism, each tensor-parallel rank sends only a part to the next
  // stage.
  bool scatters_boundaries = false;
  double gradient_bytes = 4;  // Bytes per parameter when gradients are summed.
  // Relative time lost to the slowest device per doubling of the nodes.
  double per_doubling = 0;
};

// trainyard-trainer in bf16, based on the figures in trainer/README.md (one to four H200).
const TrainerProfile& TrainyardProfile();

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_TRAINER_PROFILE_H_
