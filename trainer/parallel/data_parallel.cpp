#include "trainer/parallel/data_parallel.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

namespace trainyard::trainer {
namespace {

// Work that is queued on `later` from now on waits for the work that is queued on `earlier`.
void Order(const c10::Stream& earlier, const c10::Stream& later) {
  c10::Event reached(earlier.device_type());
  reached.record(earlier);
  reached.block(later);
}

}  // namespace

GradientReducer::GradientReducer(Communicator& communicator, torch::Device device,
                                 int64_t bucket_elements)
    : communicator_(communicator), device_(device), bucket_elements_(bucket_elements) {
  TORCH_CHECK(bucket_elements > 0);
}

void GradientReducer::Begin(const torch::Tensor& flat) {
  TORCH_CHECK(flat.dim() == 1 && flat.is_contiguous());
  if (communicator_.size() == 1) return;
  RunBeside([&] {
    for (int64_t first = 0; first < flat.numel(); first += bucket_elements_) {
      torch::Tensor bucket =
          flat.narrow(0, first, std::min(bucket_elements_, flat.numel() - first));
      communicator_.AllReduce(bucket, ReduceOp::kSum);
    }
  });
}

void GradientReducer::RunBeside(const std::function<void()>& work) {
  if (!device_.is_cuda()) return work();
  const c10::impl::VirtualGuardImpl streams(device_.type());
  if (!stream_.has_value())
    stream_ = streams.getStreamFromGlobalPool(device_, /*isHighPriority=*/true);
  Order(streams.getStream(device_), *stream_);
  const c10::StreamGuard guard(*stream_);
  work();
}

void GradientReducer::Join() {
  if (!stream_.has_value()) return;
  const c10::impl::VirtualGuardImpl streams(device_.type());
  Order(*stream_, streams.getStream(device_));
}

}  // namespace trainyard::trainer
