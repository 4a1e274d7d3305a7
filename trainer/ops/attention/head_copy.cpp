#include "trainer/ops/attention/head_copy.h"

#include <cstdint>

#include "trainer/ops/gpu.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The size of the kernel's memory accesses.
constexpr int64_t kAccessBytes = 16;

bool HasWideHeads(const Tensor& heads) {
  const int64_t size = heads.element_size();
  for (int64_t axis = 0; axis < 3; ++axis) {
    if (heads.size(axis) > 1 && heads.stride(axis) * size % kAccessBytes != 0) return false;
  }
  return heads.stride(3) == 1 && heads.size(3) * size % kAccessBytes == 0 &&
         reinterpret_cast<uintptr_t>(heads.data_ptr()) % kAccessBytes == 0;
}

}  // namespace

void CopyHeads(const std::vector<HeadCopy>& copies) {
  std::vector<HeadCopy> wide;
  for (const auto& [from, to] : copies) {
    TORCH_CHECK(from.sizes() == to.sizes(), "copies of heads need tensors of equal sizes");
    if (from.is_cuda() && HasWideHeads(from) && HasWideHeads(to)) {
      wide.push_back({from, to});
    } else {
      to.copy_(from);
    }
  }
  if (!wide.empty()) gpu::CopyHeads(wide);
}

}  // namespace trainyard::trainer
