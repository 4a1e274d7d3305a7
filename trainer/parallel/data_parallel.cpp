#include "trainer/parallel/data_parallel.h"

#include <algorithm>

namespace trainyard::trainer {

GradientReducer::GradientReducer(Communicator& communicator, torch::Tensor gradients,
                                 int64_t bucket_elements)
    : communicator_(communicator),
      gradients_(std::move(gradients)),
      bucket_elements_(bucket_elements) {
  TORCH_CHECK(gradients_.dim() == 1 && gradients_.is_contiguous() && bucket_elements_ > 0);
}

void GradientReducer::Reduce() {
  if (communicator_.size() == 1) return;
  for (int64_t first = 0; first < gradients_.numel(); first += bucket_elements_) {
    const int64_t length = std::min(bucket_elements_, gradients_.numel() - first);
    torch::Tensor bucket = gradients_.narrow(0, first, length);
    communicator_.AllReduce(bucket, ReduceOp::kSum);
  }
}

}  // namespace trainyard::trainer
