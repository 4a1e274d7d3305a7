#include "trainer/parallel/background_collectives.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Work that is queued on `later` from now on waits for the work that is queued on `earlier`.
void Order(const c10::Stream& earlier, const c10::Stream& later) {
  c10::Event reached(earlier.device_type());
  reached.record(earlier);
  reached.block(later);
}

}  // namespace

BackgroundCollectives::BackgroundCollectives(Communicator& communicator, torch::Device device)
    : communicator_(communicator), device_(device) {}

void BackgroundCollectives::BeginSum(Tensor tensor, const Then& then) {
  Begin([&] { communicator_.AllReduce(tensor, ReduceOp::kSum); }, then);
}

void BackgroundCollectives::BeginSumOfParts(const Tensor& tensor, const Then& then) {
  Tensor own = OwnPart(tensor);
  Begin([&] { communicator_.ReduceScatter(own, tensor); }, then);
}

void BackgroundCollectives::BeginGatherOfParts(Tensor tensor) {
  const Tensor own = OwnPart(tensor);
  Begin([&] { communicator_.AllGather(tensor, own); }, [] {});
}

Tensor BackgroundCollectives::OwnPart(const Tensor& tensor) const {
  TORCH_CHECK(tensor.is_contiguous() && tensor.size(0) % communicator_.size() == 0);
  return tensor.chunk(communicator_.size())[communicator_.rank()];
}

// A group of one has nothing to exchange, and what follows needs no stream of its own.
void BackgroundCollectives::Begin(const std::function<void()>& operation, const Then& then) {
  if (communicator_.size() == 1) return then();
  std::optional<c10::StreamGuard> beside;
  if (device_.is_cuda()) {
    const c10::impl::VirtualGuardImpl streams(device_.type());
    if (!stream_.has_value())
      stream_ = streams.getStreamFromGlobalPool(device_, /*isHighPriority=*/true);
    Order(streams.getStream(device_), *stream_);
    beside.emplace(*stream_);
  }
  operation();
  then();
}

void BackgroundCollectives::Join() {
  if (!stream_.has_value()) return;
  const c10::impl::VirtualGuardImpl streams(device_.type());
  Order(*stream_, streams.getStream(device_));
}

}  // namespace trainyard::trainer
