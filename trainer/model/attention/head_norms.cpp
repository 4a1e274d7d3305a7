#include "trainer/model/attention/head_norms.h"

#include <utility>

#include "trainer/model/layers/norm.h"
#include "trainer/ops/attention/head_norm.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

Tensor QueriesOf(const Tensor& packed, const AttentionHeads& heads) {
  return packed.narrow(2, 0, heads.query_heads);
}

Tensor KeysOf(const Tensor& packed, const AttentionHeads& heads) {
  return packed.narrow(2, heads.query_heads, heads.key_heads);
}

}  // namespace

std::vector<ParameterDeclaration> HeadNorms::Declare(const std::string& prefix, int64_t head_size,
                                                     const TensorParallel& tensor) {
  std::vector<ParameterDeclaration> all;
  for (const char* name : {"self_attn.q_norm", "self_attn.k_norm"}) {
    all.push_back(DeclareNorm(prefix + name, head_size, {}, tensor).front());
    all.back().slices.front().has_partial_gradient = tensor.size() > 1;
  }
  return all;
}

void HeadNorms::Forward(Tensor& packed, const AttentionHeads& heads,
                        MicroBatch& micro_batch) const {
  Normalise(first_parameter_, QueriesOf(packed, heads), micro_batch);
  Normalise(first_parameter_ + 1, KeysOf(packed, heads), micro_batch);
}

void HeadNorms::Backward(Tensor& d_packed, const AttentionHeads& heads, MicroBatch& micro_batch,
                         WeightGradients& gradients) const {
  Differentiate(first_parameter_ + 1, KeysOf(d_packed, heads), micro_batch, gradients);
  Differentiate(first_parameter_, QueriesOf(d_packed, heads), micro_batch, gradients);
}

void HeadNorms::Normalise(int64_t parameter, Tensor heads, MicroBatch& micro_batch) const {
  const int64_t size = heads.size(3), rows = heads.numel() / size;
  HeadNormKept kept;
  if (micro_batch.stash.keeps()) kept.x = torch::empty({rows, size}, heads.options());
  kept.inverse_rms = torch::empty({rows}, heads.options().dtype(ComputeType(heads.scalar_type())));
  HeadNormForward(heads, store_.Value(parameter), epsilon_, kept);
  micro_batch.stash.Push(std::move(kept.x));
  micro_batch.stash.Push(std::move(kept.inverse_rms));
}

void HeadNorms::Differentiate(int64_t parameter, Tensor d_heads, MicroBatch& micro_batch,
                              WeightGradients& gradients) const {
  HeadNormKept kept;
  kept.inverse_rms = micro_batch.stash.Pop();
  kept.x = micro_batch.stash.Pop();
  HeadNormBackward(d_heads, store_.Value(parameter), kept, gradients.Target(parameter));
}

}  // namespace trainyard::trainer
