#include "controller/planner/kernel_seconds.h"

#include <algorithm>

#include "controller/planner/device_rates.h"
#include "proto/memory/block_memory.h"

namespace trainyard::planner {
namespace {

// The ratio of backward to forward operations of fused attention. The forward pass needs two
// products. The backward pass needs five: one to recompute the scores, and four more.
constexpr double kFusedBackwardFlops = 2.5;

// The product that computes the gradient of the input.
Product InputGradient(const Product& product) {
  return {product.m, product.k, product.n, product.count};
}

}  // namespace

Kernels::Kernels(const BlockWork& work, bool is_fp8, Precision precision, const Cluster& cluster,
                 const TrainerProfile& profile)
    : work_(work),
      profile_(profile),
      is_fp8_(is_fp8),
      peak_(PeakFlops(precision, *cluster.device)),
      product_rate_(profile.products * (is_fp8 ? cluster.device->sustained_fp8
                                               : peak_ * cluster.device->sustained_products)),
      wide_rate_(profile.products * PeakFlops(Precision::kFp32, *cluster.device) *
                 cluster.device->sustained_products),
      memory_rate_(MemoryRate(cluster, profile)) {}

// `out_bytes` is the memory traffic per element of the result, in bytes. The traffic is twice the
// size of an element if the result is added to existing values.
double Kernels::OfProduct(const Product& product, double out_bytes) const {
  const double loss = profile_.product_margin * (1 / product.m + 1 / product.n + 1 / product.k);
  const double flops = product.Flops() * (1 + loss) / product_rate_;
  const double element = is_fp8_ ? 1 : work_.element;
  const double bytes =
      element * (product.m + product.n) * product.k + out_bytes * product.m * product.n;
  return std::max(flops, product.count * Bytes(bytes));
}

double Kernels::ForwardProduct(const Product& product) const {
  return OfProduct(product, work_.element) + Cast(product.count * product.m * product.k);
}

double Kernels::BackwardProduct(const Product& product) const {
  return OfProduct(InputGradient(product), work_.element) +
         OfProduct({product.k, product.n, product.m, product.count}, 2 * kFloatBytes) +
         Cast(product.count * product.m * product.n);
}

double Kernels::ForwardProducts(const std::vector<Product>& products) const {
  double seconds = 0;
  for (const Product& product : products) seconds += ForwardProduct(product);
  return seconds;
}

double Kernels::BackwardProducts(const std::vector<Product>& products) const {
  double seconds = 0;
  for (const Product& product : products) seconds += BackwardProduct(product);
  return seconds;
}

// The first product, gate and up, decides for both, as in the trainer.
bool Kernels::IsGrouped(const std::vector<Product>& products) const {
  return !products.empty() &&
         products[0].m * products[0].n * products[0].k < profile_.grouped_below;
}

double Kernels::OfGroup(const Product& product, bool is_grouped) const {
  const double seconds = OfProduct(product, work_.element);
  return is_grouped ? seconds / profile_.grouped_products
                    : seconds + product.count * profile_.seconds_per_expert_product;
}

// With few rows, adding the gradient to existing values in fp32 is only partly hidden behind the
// product.
double Kernels::OfWeightGradient(const Product& product) const {
  const Product gradient = {product.k, product.n, product.m, product.count};
  const double added = product.count * Bytes(2 * kFloatBytes * product.k * product.n);
  return std::max(OfProduct(gradient, 2 * kFloatBytes),
                  OfProduct(gradient, 0) + profile_.added_exposed * added) +
         product.count * profile_.seconds_per_expert_product;
}

double Kernels::ForwardExpertProducts(const std::vector<Product>& products) const {
  const bool is_grouped = IsGrouped(products);
  double seconds = 0;
  for (const Product& product : products) {
    seconds += OfGroup(product, is_grouped) + Cast(product.count * product.m * product.k);
  }
  return seconds;
}

double Kernels::BackwardExpertProducts(const std::vector<Product>& products) const {
  const bool is_grouped = IsGrouped(products);
  double seconds = 0;
  for (const Product& product : products) {
    seconds += OfGroup(InputGradient(product), is_grouped) + OfWeightGradient(product) +
               Cast(product.count * product.m * product.n);
  }
  return seconds;
}

double Kernels::AttentionForward() const {
  return profile_.scores_forward > 0 ? Scores(4, profile_.scores_forward)
                                     : Fused(1, profile_.attention_forward);
}

double Kernels::AttentionBackward() const {
  return profile_.scores_forward > 0 ? Scores(8, profile_.scores_backward)
                                     : Fused(kFusedBackwardFlops, profile_.attention_backward);
}

double Kernels::WideProduct(double flops, double bytes) const {
  return std::max(flops / wide_rate_, Bytes(bytes));
}

// Returns the time for casting an input to FP8. Two copies are written: a plain copy, and a
// transposed copy for the product that sums over rows.
double Kernels::Cast(double elements) const {
  return is_fp8_ ? Bytes((work_.element + 2) * elements) : 0;
}

// Assumes that the kernel skips the masked half of the scores.
double Kernels::Fused(double passes, double rate) const {
  const double flops = passes * 2 * work_.rows * work_.length * work_.scored;
  const double narrow = 2 * (1 - std::min(work_.head_size, 128.0) / 128);  // 1 for heads of 64.
  const double head_rate = 1 - narrow * (1 - profile_.heads_of_64);
  const double length_rate = work_.piece / (work_.piece + profile_.attention_half_length);
  return flops / (peak_ * rate * head_rate * length_rate);
}

double Kernels::Scores(double flops, double bytes) const {
  const double scores = work_.rows * work_.length;
  return flops * scores * work_.queries / (product_rate_ * profile_.attention_forward) +
         Bytes(bytes * scores * work_.heads);
}

}  // namespace trainyard::planner
