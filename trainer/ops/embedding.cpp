#include "trainer/ops/embedding.h"

#include "trainer/ops/gpu.h"

namespace trainyard::trainer {

namespace {

using torch::Tensor;

// True for each token whose row is in a table of `rows` rows. places: the row of each token,
// relative to the table's first row.
Tensor IsInside(const Tensor& places, int64_t rows) {
  return (places >= 0).logical_and(places < rows);
}

// Returns the indices of the true elements, in ascending order.
Tensor IndicesOf(const Tensor& mask) { return mask.nonzero().squeeze(1); }

}  // namespace

void EmbeddingForward(const Tensor& table, const Tensor& tokens, Tensor& out, int64_t first_token) {
  if (gpu::HasKernels(table)) return gpu::EmbeddingForward(table, tokens, first_token, out);
  const Tensor places = tokens - first_token;
  at::index_select_out(out, table, 0, places.clamp(0, table.size(0) - 1));
  out.index_fill_(0, IndicesOf(IsInside(places, table.size(0)).logical_not()), 0);
}

void AddEmbedding(const Tensor& table, const Tensor& tokens, Tensor& x) {
  if (gpu::HasKernels(table)) return gpu::AddEmbedding(table, tokens, x);
  x.add_(table.index_select(0, tokens));
}

void EmbeddingBackward(const Tensor& dy, const Tensor& tokens, const GradientTarget& target,
                       int64_t first_token) {
  Tensor gradient = target.gradient;
  if (!target.accumulate) gradient.zero_();
  if (gpu::HasKernels(dy)) return gpu::EmbeddingBackward(dy, tokens, first_token, gradient);
  const Tensor places = tokens - first_token;
  const Tensor rows = IndicesOf(IsInside(places, gradient.size(0)));
  gradient.index_add_(0, places.index_select(0, rows),
                      dy.index_select(0, rows).to(gradient.scalar_type()));
}

}  // namespace trainyard::trainer
