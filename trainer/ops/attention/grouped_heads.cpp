#include "trainer/ops/attention/grouped_heads.h"

#include <cmath>

#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

Tensor StackHeads(const Tensor& rows, int64_t key_heads) {
  const int64_t share = rows.size(2) / key_heads;
  return rows.transpose(1, 2).reshape(
      {rows.size(0) * key_heads, share * rows.size(1), rows.size(3)});
}

Tensor WideStack(const Tensor& rows, int64_t key_heads) {
  return StackHeads(rows, key_heads).to(ComputeType(rows.scalar_type()));
}

void UnstackHeads(const Tensor& stacked, const Tensor& rows) {
  rows.transpose(1, 2).copy_(
      stacked.view({rows.size(0), rows.size(2), rows.size(1), rows.size(3)}));
}

double ScoreScale(int64_t head_size) { return 1.0 / std::sqrt(static_cast<double>(head_size)); }

}  // namespace trainyard::trainer
