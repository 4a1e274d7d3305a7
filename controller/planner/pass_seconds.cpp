#include "controller/planner/pass_seconds.h"

#include <algorithm>

#include "controller/planner/collective_seconds.h"
#include "controller/planner/expert_seconds.h"
#include "controller/planner/kernel_seconds.h"
#include "proto/memory/block_memory.h"

namespace trainyard::planner {
namespace {

// Returns the number of elements that latent attention reads and writes for
// - its norms in the low-rank space,
// - the rotary positions of the queries and of the shared key, and
// - the assembly of the keys from per-head and shared parts.
double LatentElements(const BlockWork& work) {
  const LatentWork& latent = work.latent;
  return 2 * work.norm_rows * (latent.query_rank + latent.key_rank) +
         2 * work.rows * (work.heads + 1) * latent.rotary + 2 * work.rows * work.queries;
}

// Returns the number of elements that rotary positions and head norms read and write.
double HeadElements(const BlockWork& work, double norm_passes) {
  if (work.latent.key_rank > 0) return LatentElements(work);
  const double passes = (work.turns_heads ? 2 : 0) + (work.norms_heads ? norm_passes : 0);
  return passes * work.rows * (work.queries + work.keys);
}

// Returns the number of elements in the activation function's results, without experts' results.
double ActivationElements(const BlockWork& work) { return work.rows * work.ffn; }

// Returns the number of elements that the forward pass reads and writes for norms, rotary positions
// and the activation. In the forward pass a norm only reads and writes its rows. In the backward
// pass (BackwardElements) it also reads the gradient and the residual's
// gradient.
double ForwardElements(const BlockWork& work) {
  return 2 * 2 * work.norm_rows * work.hidden + HeadElements(work, 2) +
         (work.is_gated ? 3 : 2) * ActivationElements(work);
}

// Returns the number of elements read to compute the gradients of biases. A bias's gradient is the
// sum over rows of the gradients of the matrix product's result.
double BiasElements(const BlockWork& work) { return work.rows * work.bias_width; }

double BackwardElements(const BlockWork& work) {
  return 2 * 4 * work.norm_rows * work.hidden + HeadElements(work, 4) + BiasElements(work) +
         (work.is_gated ? 5 : 3) * ActivationElements(work);
}

// Returns the number of elements that selective recomputation reads and writes to repeat the norms
// and the activation.
double SelectiveElements(const BlockWork& work) {
  return 2 * 2 * work.norm_rows * work.hidden + ActivationElements(work);
}

// Returns the bytes that ring attention moves to add up its results. For each part of the keys,
// ring attention reads one bf16 result, and reads and writes the fp32 sum.
double RingForwardBytes(const BlockWork& work) {
  if (work.piece >= work.length) return 0;
  return work.context_parts * work.rows * work.queries * (2 * kFloatBytes + work.element);
}

double RingBackwardBytes(const BlockWork& work) {
  if (work.piece >= work.length) return 0;
  return work.context_parts * work.rows * (work.queries + 2 * work.keys) *
         (2 * kFloatBytes + work.element);
}

// Returns the bytes of the copies that arrange heads for an exchange. The queries, keys, values and
// results are each read and written once.
double HeadCopyBytes(const BlockWork& work) {
  if (!work.exchanges_heads) return 0;
  return 2 * work.element * work.rows * (2 * work.queries + 2 * work.keys);
}

// The tensor-parallel ranks of one group. Transfers() returns the time of `gathers` all-gathers or
// reduce-scatters among them, without the part that overlaps other work.
class TensorGroup {
 public:
  TensorGroup(int64_t ranks, const Cluster& cluster, const TrainerProfile& profile)
      : links_(PlaceOfGroup(ranks, 1, cluster), cluster, profile),
        visible_(profile.tensor_exposed * (ranks == 2 ? profile.tensor_pair : 1)) {}

  PassParts Transfers(double gathers, double bytes) const {
    PassParts parts;
    parts.tensor = visible_ * gathers * links_.GatherSeconds(bytes);
    return parts;
  }

 private:
  const GroupLinks links_;
  const double visible_;
};

struct Transfers {
  PassParts forward;
  PassParts backward;
};

// Returns the time to get the keys and values of the other context-parallel ranks, by ring or
// all-gather. The backward pass also sends the gradients of keys and values in fp32. If ranks
// exchange tokens for heads, each pass sends queries, keys, values and results, or their gradients.
Transfers ContextTransfers(const BlockWork& work, const GroupLinks& links,
                           const TrainerProfile& profile) {
  Transfers transfers;
  if (work.context_parts <= 1) return transfers;
  const double values = work.rows * 2 * work.keys;
  if (work.exchanges_heads) {
    const double heads = 2 * work.rows * work.queries + values;
    transfers.forward.context = transfers.backward.context =
        profile.heads_exposed * links.ExchangeSeconds(work.element * heads);
    return transfers;
  }
  const bool is_ring = work.piece < work.length;
  const auto seconds = [&](double part) {
    return profile.context_exposed *
           (is_ring ? links.RingSeconds(part) : links.GatherSeconds(work.context_parts * part));
  };
  transfers.forward.context = seconds(work.element * values);
  transfers.backward.context = seconds((work.element + kFloatBytes) * values);
  return transfers;
}

PassParts HeadSeconds(const BlockWork& work, const Kernels& kernels,
                      const TrainerProfile& profile) {
  PassParts head;
  const Product product = work.HeadProduct();
  head.compute = kernels.ForwardProduct(product) + kernels.BackwardProduct(product) +
                 kernels.Bytes(profile.bytes_per_logit * work.rows * work.vocabulary) +
                 kernels.Elementwise(6 * work.norm_rows * work.hidden);
  return head;
}

// Returns the time of a multi-token prediction module: its projection, the norms of its two inputs,
// and the copies that join the results and split their gradient.
PassParts MtpSeconds(const BlockWork& work, const Kernels& kernels) {
  constexpr double kNormElements = 2 * (2 + 4), kCopiedElements = 2 * 4;
  PassParts module;
  const Product product = work.MtpProduct();
  module.compute =
      kernels.ForwardProduct(product) + kernels.BackwardProduct(product) +
      kernels.Elementwise((kNormElements + kCopiedElements) * work.norm_rows * work.hidden);
  return module;
}

void AddTransfers(const BlockWork& work, const RunConfig& config, const Cluster& cluster,
                  const TrainerProfile& profile, PassSeconds& pass) {
  const LayoutConfig& layout = config.layout;
  const TensorGroup tensor(layout.tp, cluster, profile);
  const GroupLinks context(PlaceOfGroup(layout.cp, layout.tp, cluster), cluster, profile);
  // With sequence parallelism, the backward pass gathers the inputs of the matrices again.
  const bool splits_rows = layout.sequence_parallel;
  // Returns the transfers of hidden states. With sequence parallelism, these are all-gathers and
  // reduce-scatters. Without sequence parallelism, one all-reduce replaces two of these transfers.
  const auto transfers = [&](double gathers) {
    return tensor.Transfers(gathers, work.StreamBytes());
  };
  // Without a dense feed-forward half, only the attention half has these transfers.
  const double halves = work.ffn > 0 ? 2 : 1;
  pass.block_forward += transfers(2 * halves);
  pass.block_backward += transfers((splits_rows ? 3 : 2) * halves);
  pass.block_full += transfers(2 * halves);
  pass.head += transfers(splits_rows ? 3 : 2);
  pass.embedding += transfers(2);
  const Transfers along = ContextTransfers(work, context, profile);
  pass.block_forward += along.forward;
  pass.block_backward += along.backward;
  pass.block_full += along.forward;
}

}  // namespace

PassSeconds SecondsOfPass(const BlockWork& work, const RunConfig& config, const Cluster& cluster,
                          const TrainerProfile& profile) {
  const Kernels kernels(work, work.is_fp8, config.train.precision, cluster, profile);
  const Kernels wide_kernels(work, /*is_fp8=*/false, config.train.precision, cluster, profile);
  PassSeconds pass;
  double forward = kernels.ForwardProducts(work.Products());
  double backward = kernels.BackwardProducts(work.Products());
  forward += kernels.AttentionForward() + kernels.Elementwise(ForwardElements(work)) +
             kernels.Bytes(RingForwardBytes(work) + HeadCopyBytes(work)) +
             profile.seconds_per_block / 3;
  backward += kernels.AttentionBackward() + kernels.Elementwise(BackwardElements(work)) +
              kernels.Bytes(RingBackwardBytes(work) + HeadCopyBytes(work)) +
              profile.seconds_per_block * 2 / 3;
  pass.block_forward.compute = forward;
  pass.block_backward.compute = backward;
  pass.block_full.compute = forward;
  pass.block_selective.compute = profile.selective_makes_scores
                                     ? kernels.AttentionForward()
                                     : kernels.Elementwise(SelectiveElements(work));
  pass.block_selective.compute += kernels.ForwardProducts(work.LatentUpProducts());
  pass.head = HeadSeconds(work, wide_kernels, profile);
  pass.embedding.compute = kernels.Elementwise(3 * work.rows * work.hidden);
  pass.mtp = MtpSeconds(work, kernels);
  const ExpertSeconds experts = SecondsOfExperts(work, kernels, cluster, profile);
  pass.block_forward += experts.forward;
  pass.block_backward += experts.backward;
  pass.block_selective += experts.selective;
  pass.block_full += experts.full;
  AddTransfers(work, config, cluster, profile, pass);
  return pass;
}

}  // namespace trainyard::planner
