#include "controller/planner/pass_seconds.h"

#include <algorithm>

#include "controller/planner/collective_seconds.h"

namespace trainyard::planner {
namespace {

// Operations of the backward pass of fused attention for each of its forward pass: it makes the
// scores again, and four products beside the two.
constexpr double kFusedBackwardFlops = 2.5;
constexpr double kFloatBytes = 4;

// Everything of one device that seconds are counted by.
class Kernels {
 public:
  Kernels(const BlockWork& work, Precision precision, const Cluster& cluster,
          const TrainerProfile& profile)
      : work_(work),
        profile_(profile),
        peak_(PeakFlops(precision, *cluster.device)),
        product_rate_(peak_ * cluster.device->sustained_products * profile.products),
        memory_rate_(MemoryRate(cluster, profile)) {}

  double Bytes(double bytes) const { return bytes / memory_rate_; }
  double Elementwise(double elements) const {
    return Bytes(profile_.elementwise * work_.element * elements);
  }

  // `out_bytes`: of an element of the result, which is read, too, where the product adds to it.
  double OfProduct(const Product& product, double out_bytes) const {
    const double loss = profile_.product_margin * (1 / product.m + 1 / product.n + 1 / product.k);
    const double flops = product.Flops() * (1 + loss) / product_rate_;
    const double bytes =
        work_.element * (product.m + product.n) * product.k + out_bytes * product.m * product.n;
    return std::max(flops, Bytes(bytes));
  }
  double ForwardProduct(const Product& product) const { return OfProduct(product, work_.element); }
  // Input gradients, and weight gradients that are added in fp32.
  double BackwardProduct(const Product& product) const {
    return OfProduct({product.m, product.k, product.n}, work_.element) +
           OfProduct({product.k, product.n, product.m}, 2 * kFloatBytes);
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
  // The masked half is left out.
  double Fused(double passes, double rate) const {
    const double flops = passes * 2 * work_.rows * work_.length * work_.queries;
    const double narrow = 2 * (1 - std::min(work_.head_size, 128.0) / 128);  // 1 for 64.
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
  double peak_;
  double product_rate_;
  double memory_rate_;
};

// Passes over the heads: rotary positions read and write them, norms of heads do, too.
double HeadElements(const BlockWork& work, double norm_passes) {
  const double passes = (work.turns_heads ? 2 : 0) + (work.norms_heads ? norm_passes : 0);
  return passes * work.rows * (work.queries + work.keys);
}

// Elements that the norms, rotary positions and the activation read and write. A norm reads and
// writes its rows, its backward pass reads gradient, input and the residual's gradient.
double ForwardElements(const BlockWork& work) {
  return 2 * 2 * work.norm_rows * work.hidden + HeadElements(work, 2) +
         (work.is_gated ? 3 : 2) * work.rows * work.ffn;
}

// Gradients of biases are sums over the gradients of the matrices' results.
double BiasElements(const BlockWork& work) {
  if (!work.has_biases) return 0;
  double width = 0;
  for (const Product& product : work.Products()) width += product.n;
  return work.rows * width;
}

double BackwardElements(const BlockWork& work) {
  return 2 * 4 * work.norm_rows * work.hidden + HeadElements(work, 4) + BiasElements(work) +
         (work.is_gated ? 5 : 3) * work.rows * work.ffn;
}

// Norms and the activation's result.
double SelectiveElements(const BlockWork& work) {
  return 2 * 2 * work.norm_rows * work.hidden + work.rows * work.ffn;
}

// A ring adds the results of each part of the keys in fp32: read, read in bf16, written.
double RingForwardBytes(const BlockWork& work) {
  if (work.piece >= work.length) return 0;
  return work.context_parts * work.rows * work.queries * (2 * kFloatBytes + work.element);
}

double RingBackwardBytes(const BlockWork& work) {
  if (work.piece >= work.length) return 0;
  return work.context_parts * work.rows * (work.queries + 2 * work.keys) *
         (2 * kFloatBytes + work.element);
}

// Transfers of hidden states among tensor-parallel ranks: as many gathers, or reduce-scatters, as
// the sequence-parallel form has; without it all-reduces take the place of two.
PassParts TensorTransfers(double gathers, const BlockWork& work, const GroupLinks& links,
                          const TrainerProfile& profile) {
  PassParts parts;
  parts.tensor = profile.tensor_exposed * gathers * links.GatherSeconds(work.StreamBytes());
  return parts;
}

struct Transfers {
  PassParts forward;
  PassParts backward;
};

// Keys and values of the other ranks, around a ring or gathered; on the way back with their
// gradients in fp32.
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
  const GroupLinks tensor(PlaceOfGroup(layout.tp, 1, cluster), cluster, profile);
  const GroupLinks context(PlaceOfGroup(layout.cp, layout.tp, cluster), cluster, profile);
  // The backward pass gathers the matrices' inputs again.
  const bool splits_rows = layout.sequence_parallel;
  const auto transfers = [&](double gathers) {
    return TensorTransfers(gathers, work, tensor, profile);
  };
  pass.block_forward += transfers(4);
  pass.block_backward += transfers(splits_rows ? 6 : 4);
  pass.block_full += transfers(4);
  pass.head += transfers(splits_rows ? 3 : 2);
  pass.embedding += transfers(2);
  const Transfers along = ContextTransfers(work, context, profile);
  pass.block_forward += along.forward;
  pass.block_backward += along.backward;
  pass.block_full += along.forward;
}

}  // namespace

PassParts& PassParts::operator+=(const PassParts& other) {
  compute += other.compute;
  tensor += other.tensor;
  context += other.context;
  return *this;
}

PassParts operator*(double factor, PassParts parts) {
  return {factor * parts.compute, factor * parts.tensor, factor * parts.context};
}

PassParts operator+(PassParts left, const PassParts& right) { return left += right; }

double MemoryRate(const Cluster& cluster, const TrainerProfile& profile) {
  return profile.memory * cluster.device->memory_bandwidth;
}

double PeakFlops(Precision precision, const DeviceSpec& device) {
  return precision == Precision::kBf16 ? device.rating->bf16_flops : device.rating->fp32_flops;
}

PassSeconds SecondsOfPass(const BlockWork& work, const RunConfig& config, const Cluster& cluster,
                          const TrainerProfile& profile) {
  const Kernels kernels(work, config.train.precision, cluster, profile);
  PassSeconds pass;
  double forward = 0, backward = 0;
  for (const Product& product : work.Products()) {
    forward += kernels.ForwardProduct(product);
    backward += kernels.BackwardProduct(product);
  }
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
  pass.head = HeadSeconds(work, kernels, profile);
  pass.embedding.compute = kernels.Elementwise(3 * work.rows * work.hidden);
  AddTransfers(work, config, cluster, profile, pass);
  return pass;
}

}  // namespace trainyard::planner
