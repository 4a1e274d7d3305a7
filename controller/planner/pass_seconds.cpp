#include "controller/planner/pass_seconds.h"

#include <algorithm>

#include "controller/planner/collective_seconds.h"
#include "proto/rules/planned_features.h"

namespace trainyard::planner {
namespace {

// The ratio of backward to forward operations of fused attention. The forward pass needs two
// products. The backward pass recomputes the scores and needs four more, five in total.
constexpr double kFusedBackwardFlops = 2.5;
constexpr double kFloatBytes = 4;

// The durations of kernels on one device.
class Kernels {
 public:
  // `is_fp8` applies to the products whose times are requested.
  Kernels(const BlockWork& work, bool is_fp8, Precision precision, const Cluster& cluster,
          const TrainerProfile& profile)
      : work_(work),
        profile_(profile),
        is_fp8_(is_fp8),
        peak_(PeakFlops(precision, *cluster.device)),
        product_rate_(profile.products * (is_fp8 ? cluster.device->sustained_fp8
                                                 : peak_ * cluster.device->sustained_products)),
        memory_rate_(MemoryRate(cluster, profile)) {}

  double Bytes(double bytes) const { return bytes / memory_rate_; }
  double Elementwise(double elements) const {
    return Bytes(profile_.elementwise * work_.element * elements);
  }

  // `out_bytes` is the memory traffic per element of the result, in bytes. It is twice the size of
  // an element if the result is added to existing values.
  double OfProduct(const Product& product, double out_bytes) const {
    const double loss = profile_.product_margin * (1 / product.m + 1 / product.n + 1 / product.k);
    const double flops = product.Flops() * (1 + loss) / product_rate_;
    const double element = is_fp8_ ? 1 : work_.element;
    const double bytes =
        element * (product.m + product.n) * product.k + out_bytes * product.m * product.n;
    return std::max(flops, product.count * Bytes(bytes));
  }
  double ForwardProduct(const Product& product) const {
    return OfProduct(product, work_.element) + Cast(product.count * product.m * product.k);
  }
  // Returns the time of the two backward products. They compute the input gradients, and the weight
  // gradients, which are added up in fp32.
  double BackwardProduct(const Product& product) const {
    return OfProduct({product.m, product.k, product.n, product.count}, work_.element) +
           OfProduct({product.k, product.n, product.m, product.count}, 2 * kFloatBytes) +
           Cast(product.count * product.m * product.n);
  }
  double ForwardProducts(const std::vector<Product>& products) const {
    double seconds = 0;
    for (const Product& product : products) seconds += ForwardProduct(product);
    return seconds;
  }
  double BackwardProducts(const std::vector<Product>& products) const {
    double seconds = 0;
    for (const Product& product : products) seconds += BackwardProduct(product);
    return seconds;
  }

  double AttentionForward() const {
    return profile_.scores_forward > 0 ? Scores(4, profile_.scores_forward)
                                       : Fused(1, profile_.attention_forward);
  }
  double AttentionBackward() const {
    return profile_.scores_forward > 0 ? Scores(8, profile_.scores_backward)
                                       : Fused(kFusedBackwardFlops, profile_.attention_backward);
  }

 private:
  // Returns the time for casting an input to FP8. Two copies are written: one as it is, and one
  // transposed for the product that sums over rows.
  double Cast(double elements) const { return is_fp8_ ? Bytes((work_.element + 2) * elements) : 0; }
  // Assumes that the kernel skips the masked half of the scores.
  double Fused(double passes, double rate) const {
    const double flops = passes * 2 * work_.rows * work_.length * work_.scored;
    const double narrow = 2 * (1 - std::min(work_.head_size, 128.0) / 128);  // 1 for heads of 64.
    const double head_rate = 1 - narrow * (1 - profile_.heads_of_64);
    const double length_rate = work_.piece / (work_.piece + profile_.attention_half_length);
    return flops / (peak_ * rate * head_rate * length_rate);
  }
  double Scores(double flops, double bytes) const {
    const double scores = work_.rows * work_.length;
    return flops * scores * work_.queries / (product_rate_ * profile_.attention_forward) +
           Bytes(bytes * scores * work_.heads);
  }

  const BlockWork& work_;
  const TrainerProfile& profile_;
  bool is_fp8_;
  double peak_;
  double product_rate_;
  double memory_rate_;
};

// Returns the number of elements that latent attention reads and writes for
// - its norms in the low-rank space,
// - the rotary positions of the queries and of the shared key, and
// - the assembly of the keys from per-head and shared parts.
double LatentElements(const BlockWork& work) {
  const LatentWork& latent = work.latent;
  return 2 * work.norm_rows * (latent.query_rank + latent.key_rank) +
         2 * work.rows * (work.heads + 1) * latent.rotary + 2 * work.rows * work.queries;
}

// Returns the number of elements in the activation function's results.
double ActivationElements(const BlockWork& work) {
  return work.rows * work.ffn + work.experts.copies * work.experts.ffn;
}

// Returns the number of elements read and written when rows are copied for their experts, sorted by
// expert on the receiving rank, and sent back.
double DispatchElements(const BlockWork& work) {
  const ExpertWork& experts = work.experts;
  if (experts.count == 0) return 0;
  return work.hidden * (2 * work.norm_rows + 2 * experts.sent + 4 * experts.copies);
}

// Returns the number of elements that rotary positions and head norms read and write.
double HeadElements(const BlockWork& work, double norm_passes) {
  if (work.latent.key_rank > 0) return LatentElements(work);
  const double passes = (work.turns_heads ? 2 : 0) + (work.norms_heads ? norm_passes : 0);
  return passes * work.rows * (work.queries + work.keys);
}

// Returns the number of elements that the forward pass reads and writes for norms, rotary
// positions, expert dispatch and the activation. In the forward pass a norm only reads and writes
// its rows. In the backward pass (BackwardElements) it also reads the gradient and the residual's
// gradient.
double ForwardElements(const BlockWork& work) {
  return 2 * 2 * work.norm_rows * work.hidden + HeadElements(work, 2) + DispatchElements(work) +
         (work.is_gated ? 3 : 2) * ActivationElements(work);
}

// Returns the number of elements read to compute the gradients of biases. A bias's gradient is the
// sum over rows of the gradients of the matrix product's result.
double BiasElements(const BlockWork& work) {
  if (!work.has_biases) return 0;
  double width = 0;
  for (const Product& product : work.Products()) width += product.n;
  return work.rows * width;
}

double BackwardElements(const BlockWork& work) {
  return 2 * 4 * work.norm_rows * work.hidden + HeadElements(work, 4) + BiasElements(work) +
         DispatchElements(work) + (work.is_gated ? 5 : 3) * ActivationElements(work);
}

// Returns the number of elements that selective recomputation reads and writes to repeat the norms
// and the activation.
double SelectiveElements(const BlockWork& work) {
  return 2 * 2 * work.norm_rows * work.hidden + ActivationElements(work);
}

// Returns the bytes that ring attention moves to add up its results. For each part of the keys, it
// reads one bf16 result, and reads and writes the fp32 sum.
double RingForwardBytes(const BlockWork& work) {
  if (work.piece >= work.length) return 0;
  return work.context_parts * work.rows * work.queries * (2 * kFloatBytes + work.element);
}

double RingBackwardBytes(const BlockWork& work) {
  if (work.piece >= work.length) return 0;
  return work.context_parts * work.rows * (work.queries + 2 * work.keys) *
         (2 * kFloatBytes + work.element);
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
// all-gather. The backward pass also sends the gradients of keys and values in fp32.
Transfers ContextTransfers(const BlockWork& work, const GroupLinks& links,
                           const TrainerProfile& profile) {
  Transfers transfers;
  if (work.context_parts <= 1) return transfers;
  const double values = work.rows * 2 * work.keys;
  const bool is_ring = work.piece < work.length;
  const auto seconds = [&](double part) {
    return profile.context_exposed *
           (is_ring ? links.RingSeconds(part) : links.GatherSeconds(work.context_parts * part));
  };
  transfers.forward.context = seconds(work.element * values);
  transfers.backward.context = seconds((work.element + kFloatBytes) * values);
  return transfers;
}

// Returns the transfers for experts. Copies of each row are sent to the ranks of the row's experts,
// and the results are sent back. If several ranks share an expert, they gather the copies and add
// up their results.
PassParts ExpertTransfers(const BlockWork& work, const RunConfig& config, const Cluster& cluster,
                          const TrainerProfile& profile) {
  PassParts parts;
  const ExpertWork& experts = work.experts;
  if (experts.count == 0) return parts;
  const LayoutConfig& layout = config.layout;
  const bool is_cut = experts.copies > experts.sent;
  const GroupLinks links(PlaceOfGroup(layout.ep, is_cut ? layout.tp * layout.cp : 1, cluster),
                         cluster, profile);
  parts.expert =
      profile.expert_exposed * 2 * links.ExchangeSeconds(work.element * experts.sent * work.hidden);
  if (!is_cut) return parts;
  return parts + TensorGroup(layout.tp, cluster, profile)
                     .Transfers(2, work.element * experts.copies * work.hidden);
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

void AddTransfers(const BlockWork& work, const RunConfig& config, const Cluster& cluster,
                  const TrainerProfile& profile, PassSeconds& pass) {
  const LayoutConfig& layout = config.layout;
  const TensorGroup tensor(layout.tp, cluster, profile);
  const GroupLinks context(PlaceOfGroup(layout.cp, layout.tp, cluster), cluster, profile);
  // With sequence parallelism, the backward pass gathers the inputs of the matrices again.
  const bool splits_rows = layout.sequence_parallel;
  // Returns the transfers of hidden states. With sequence parallelism, these are all-gathers and
  // reduce-scatters. Without it, one all-reduce replaces two of them.
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
  const PassParts dispatch = ExpertTransfers(work, config, cluster, profile);
  pass.block_forward += dispatch;
  pass.block_backward += dispatch;
  pass.block_full += dispatch;
}

}  // namespace

PassParts& PassParts::operator+=(const PassParts& other) {
  compute += other.compute;
  tensor += other.tensor;
  context += other.context;
  expert += other.expert;
  return *this;
}

PassParts operator*(double factor, PassParts parts) {
  return {factor * parts.compute, factor * parts.tensor, factor * parts.context,
          factor * parts.expert};
}

PassParts operator+(PassParts left, const PassParts& right) { return left += right; }

double MemoryRate(const Cluster& cluster, const TrainerProfile& profile) {
  return profile.memory * cluster.device->memory_bandwidth;
}

double PeakFlops(Precision precision, const DeviceSpec& device) {
  const DeviceRating& rating = *device.rating;
  switch (precision) {
    case Precision::kFp32:
      return rating.fp32_flops;
    case Precision::kBf16:
      return rating.bf16_flops;
    case Precision::kFp16:
      return rating.fp16_flops;
  }
  return 0;
}

double PeakFlops(const TrainConfig& train, const DeviceSpec& device) {
  return HasFp8(train) ? device.fp8_flops : PeakFlops(train.precision, device);
}

PassSeconds SecondsOfPass(const BlockWork& work, const RunConfig& config, const Cluster& cluster,
                          const TrainerProfile& profile) {
  const Kernels kernels(work, work.is_fp8, config.train.precision, cluster, profile);
  const Kernels wide_kernels(work, /*is_fp8=*/false, config.train.precision, cluster, profile);
  PassSeconds pass;
  double forward = kernels.ForwardProducts(work.Products());
  double backward = kernels.BackwardProducts(work.Products());
  forward += kernels.ForwardProducts(work.ExpertProducts());
  backward += kernels.BackwardProducts(work.ExpertProducts());
  forward += kernels.AttentionForward() + kernels.Elementwise(ForwardElements(work)) +
             kernels.Bytes(RingForwardBytes(work)) + profile.seconds_per_block / 3;
  backward += kernels.AttentionBackward() + kernels.Elementwise(BackwardElements(work)) +
              kernels.Bytes(RingBackwardBytes(work)) + profile.seconds_per_block * 2 / 3;
  pass.block_forward.compute = forward;
  pass.block_backward.compute = backward;
  pass.block_full.compute = forward;
  pass.block_selective.compute = profile.selective_makes_scores
                                     ? kernels.AttentionForward()
                                     : kernels.Elementwise(SelectiveElements(work));
  pass.block_selective.compute += kernels.ForwardProducts(work.LatentUpProducts());
  pass.head = HeadSeconds(work, wide_kernels, profile);
  pass.embedding.compute = kernels.Elementwise(3 * work.rows * work.hidden);
  AddTransfers(work, config, cluster, profile, pass);
  return pass;
}

}  // namespace trainyard::planner
