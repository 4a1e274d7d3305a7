#include "trainer/model/head_norms.h"

#include <utility>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// One head a row, in memory of its own.
Tensor RowsOf(const Tensor& heads) {
  return heads.reshape({-1, heads.size(3)}).clone(at::MemoryFormat::Contiguous);
}

void NormaliseHeads(const Norm& norm, Tensor heads, MicroBatch& micro_batch) {
  Tensor rows = RowsOf(heads);
  Norm::Result normal = norm.Forward(rows);
  heads.copy_(normal.y.view(heads.sizes()));
  micro_batch.stash.Push(std::move(rows));
  micro_batch.stash.Push(std::move(normal.statistics));
}

void NormaliseHeadsBackward(const Norm& norm, Tensor d_heads, MicroBatch& micro_batch,
                            WeightGradients& gradients) {
  const Tensor statistics = micro_batch.stash.Pop();
  const Tensor rows = micro_batch.stash.Pop();
  d_heads.copy_(
      norm.Backward(RowsOf(d_heads), rows, statistics, Tensor(), gradients).view(d_heads.sizes()));
}

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
  NormaliseHeads(queries_, QueriesOf(packed, heads), micro_batch);
  NormaliseHeads(keys_, KeysOf(packed, heads), micro_batch);
}

void HeadNorms::Backward(Tensor& d_packed, const AttentionHeads& heads, MicroBatch& micro_batch,
                         WeightGradients& gradients) const {
  NormaliseHeadsBackward(keys_, KeysOf(d_packed, heads), micro_batch, gradients);
  NormaliseHeadsBackward(queries_, QueriesOf(d_packed, heads), micro_batch, gradients);
}

}  // namespace trainyard::trainer
