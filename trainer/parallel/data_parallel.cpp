#include "trainer/parallel/data_parallel.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace trainyard::trainer {
namespace {

// Work that is queued on `later` from now on waits for the work that is queued on `earlier`.
void Order(const c10::Stream& earlier, const c10::Stream& later) {
  c10::Event reached(earlier.device_type());
  reached.record(earlier);
  reached.block(later);
}

}  // namespace

GradientReducer::GradientReducer(Communicator& communicator, torch::Device device)
    : communicator_(communicator), device_(device) {}

void GradientReducer::Begin(torch::Tensor flat, const std::function<void()>& then) {
  TORCH_CHECK(flat.is_contiguous());
  if (communicator_.size() == 1) return then();
  RunBeside([&] {
    communicator_.AllReduce(flat, ReduceOp::kSum);
    then();
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
