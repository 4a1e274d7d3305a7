#include "trainer/parallel/interruption/operation.h"

#include <algorithm>

namespace trainyard::trainer {
namespace {

int64_t BytesOf(const torch::Tensor& tensor) {
  return tensor.defined() ? static_cast<int64_t>(tensor.nbytes()) : 0;
}

}  // namespace

const char* NameOf(Operation::Kind kind) {
  switch (kind) {
    case Operation::Kind::kAllReduce:
      return "all-reduce";
    case Operation::Kind::kAllGather:
      return "all-gather";
    case Operation::Kind::kReduceScatter:
      return "reduce-scatter";
    case Operation::Kind::kAllToAll:
      return "all-to-all";
    case Operation::Kind::kBroadcast:
      return "broadcast";
    case Operation::Kind::kExchange:
      return "exchange";
    case Operation::Kind::kLocal:
      break;
  }
  return "local work";
}

int64_t BytesOf(const Operation& operation) {
  int64_t bytes = std::max(BytesOf(operation.output), BytesOf(operation.input));
  for (const Transfer& transfer : operation.transfers) bytes += BytesOf(transfer.tensor);
  return bytes;
}

void RunAlone(const Operation& operation) {
  if (operation.local) operation.local();
  const bool copies =
      operation.input.defined() && operation.input.data_ptr() != operation.output.data_ptr();
  if (copies) torch::Tensor(operation.output).copy_(operation.input);
}

}  // namespace trainyard::trainer
