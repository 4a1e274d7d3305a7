#include "trainer/ops/host_copy.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/utils.h>

#include <memory>
#include <thread>
#include <utility>

namespace trainyard::trainer {

using torch::Tensor;

// LibTorch reuses page-locked memory only when the copies to that memory have completed.
Tensor QueueHostCopy(const Tensor& source) {
  if (!source.defined() || !source.is_cuda()) return source;
  Tensor host =
      torch::empty(source.sizes(), source.options().device(torch::kCPU).pinned_memory(true));
  return host.copy_(source, /*non_blocking=*/true);
}

std::function<bool()> CompletionOfQueue(torch::Device device) {
  if (!device.is_cuda()) return {};
  const c10::impl::VirtualGuardImpl streams(device.type());
  const auto end = std::make_shared<c10::Event>(device.type());
  end->record(streams.getStream(device));
  return [end] { return end->query(); };
}

// Polls, because a host that sleeps can wake 258 microseconds late (trainer/README.md, decisions
// for mixtures of experts).
void HostTensor::Wait() const {
  while (is_complete && !is_complete()) std::this_thread::yield();
}

HostTensor BeginHostCopy(const Tensor& source) {
  Tensor values = QueueHostCopy(source);
  return {std::move(values), CompletionOfQueue(source.device())};
}

}  // namespace trainyard::trainer
