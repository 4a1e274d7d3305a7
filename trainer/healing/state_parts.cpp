#include "trainer/healing/state_parts.h"

namespace trainyard::trainer {

std::vector<torch::Tensor> StoredPieces(const ParameterStore& store, AdamW& optimizer,
                                        const std::vector<torch::Tensor>& on_every_rank,
                                        const PerKind<int64_t>& part) {
  std::vector<torch::Tensor> pieces;
  for (int64_t group = 0; group < static_cast<int64_t>(store.groups().size()); ++group) {
    const ElementRange range = store.StoredOf(group, part);
    pieces.push_back(store.Values(group, range));
    if (store.low_bits().defined()) pieces.push_back(store.State(store.low_bits(), group, range));
    if (store.masters().defined()) pieces.push_back(store.State(store.masters(), group, range));
    pieces.push_back(store.State(optimizer.first_moment(), group, range));
    pieces.push_back(store.State(optimizer.second_moment(), group, range));
  }
  for (const torch::Tensor& equal : on_every_rank) {
    if (equal.defined()) pieces.push_back(equal.view({-1}));
  }
  return pieces;
}

int64_t BytesOf(const std::vector<torch::Tensor>& tensors) {
  int64_t bytes = 0;
  for (const torch::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

}  // namespace trainyard::trainer
