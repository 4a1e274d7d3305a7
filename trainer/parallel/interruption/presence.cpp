#include "trainer/parallel/interruption/presence.h"

#include <atomic>
#include <utility>

namespace trainyard::trainer {
namespace {

torch::Tensor One(torch::Device device) {
  return torch::ones({}, torch::dtype(torch::kFloat64).pinned_memory(device.is_cuda()));
}

}  // namespace

Presence::Presence(torch::Device device, Interruption* interruption) : is_present_(One(device)) {
  if (interruption != nullptr) listener_ = interruption->ListenFirst([this] { Leave(); });
}

void Presence::Leave() { std::atomic_ref<double>(*is_present_.data_ptr<double>()).store(0); }

void Presence::Write(double value, torch::Tensor target) const {
  target.copy_(is_present_, /*non_blocking=*/true);
  target.mul_(value);
}

}  // namespace trainyard::trainer
