#include "trainer/model/attention/documents.h"

namespace trainyard::trainer {

using torch::Tensor;

Tensor DocumentStarts(const Tensor& tokens, int64_t end_token) {
  Tensor starts = torch::zeros_like(tokens);
  const int64_t behind = tokens.size(1) - 1;  // Number of tokens that have a predecessor.
  const Tensor begins = tokens.narrow(1, 0, behind) == end_token;
  starts.narrow(1, 1, behind).copy_(begins * torch::arange(1, behind + 1, tokens.options()));
  return std::get<0>(at::cummax(starts, 1));
}

Tensor CountedPredictions(const Tensor& tokens, int64_t end_token) {
  const Tensor inputs = tokens.narrow(1, 0, tokens.size(1) - 1);
  return (inputs != end_token).to(torch::kFloat32).reshape({-1});
}

}  // namespace trainyard::trainer
