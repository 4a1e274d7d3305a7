#include "trainer/ops/attention/latent_heads.h"

#include "trainer/ops/attention/rotary.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Views of the parts of heads. If the table has the positions of all samples, the views treat all
// samples as one.
struct Parts {
  Tensor rotated_query;
  Tensor rotated_key;
  Tensor unrotated_key;
  Tensor unrotated;  // Elements of `expanded`.
  Tensor shared;     // [batch, length, 1, rotated]
};

Parts PartsOf(const LatentHeads& heads, const RotaryTable& table) {
  const int64_t length = table.cos.size(0), rotated = heads.shared.size(1);
  const int64_t unrotated = heads.query.size(3) - rotated;
  const auto samples = [&](const Tensor& tensor) {
    return tensor.view({-1, length, tensor.size(2), tensor.size(3)});
  };
  const Tensor key = samples(heads.key);
  return {samples(heads.query).narrow(3, unrotated, rotated), key.narrow(3, unrotated, rotated),
          key.narrow(3, 0, unrotated), samples(heads.expanded).narrow(3, 0, unrotated),
          heads.shared.view({-1, length, 1, rotated})};
}

}  // namespace

void JoinLatentHeads(LatentHeads& heads, const RotaryTable& table) {
  if (gpu::HasKernels(heads.query)) return gpu::JoinLatentHeads(heads, table);
  const Parts parts = PartsOf(heads, table);
  RotateHeads(parts.rotated_query, table, Rotation::kForward);
  const Tensor shared = parts.shared.clone();
  RotateHeads(shared, table, Rotation::kForward);
  parts.rotated_key.copy_(shared.expand(parts.rotated_key.sizes()));
  parts.unrotated_key.copy_(parts.unrotated);
}

void SplitLatentHeads(LatentHeads& gradients, const RotaryTable& table) {
  if (gpu::HasKernels(gradients.query)) return gpu::SplitLatentHeads(gradients, table);
  const Parts parts = PartsOf(gradients, table);
  RotateHeads(parts.rotated_query, table, Rotation::kBack);
  parts.unrotated.copy_(parts.unrotated_key);
  // The sum over heads comes first, because all heads of a token have the same rotation.
  const Tensor sum =
      parts.rotated_key.to(ComputeType(parts.rotated_key.scalar_type())).sum(2, true);
  RotateHeads(sum, table, Rotation::kBack);
  parts.shared.copy_(sum);
}

}  // namespace trainyard::trainer
