#include "trainer/checkpoint/host_copy.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <chrono>
#include <exception>
#include <utility>

#include "trainer/checkpoint/box.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

void CheckChunk(const TensorChunk& chunk) {
  if (IsInside({chunk.offset, chunk.tensor.sizes().vec()}, chunk.global_shape)) return;
  throw TrainerError(ExitCode::kInternal, "checkpoint: chunk at " + ToText(chunk.offset) +
                                              " shape " + ToText(chunk.tensor.sizes().vec()) +
                                              " is outside tensor " + chunk.name + " of shape " +
                                              ToText(chunk.global_shape));
}

void CheckLowBits(const TensorChunk& chunk) {
  if (!chunk.low_bits.defined()) return;
  const bool fits = chunk.tensor.scalar_type() == torch::kBFloat16 &&
                    chunk.low_bits.scalar_type() == torch::kInt16 &&
                    chunk.low_bits.sizes() == chunk.tensor.sizes() &&
                    chunk.low_bits.device() == chunk.tensor.device();
  if (fits) return;
  throw TrainerError(ExitCode::kInternal,
                     "checkpoint: the low bits of tensor " + chunk.name + " do not fit its values");
}

std::vector<TensorChunk> WithElements(const std::vector<TensorChunk>& chunks) {
  std::vector<TensorChunk> some;
  for (const TensorChunk& chunk : chunks) {
    CheckChunk(chunk);
    CheckLowBits(chunk);
    if (chunk.tensor.numel() > 0) some.push_back(chunk);
  }
  return some;
}

// Waits for the event by polling. A blocking wait would hold a device lock that training needs.
void Await(const c10::Event& event) {
  while (!event.query()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::optional<torch::Device> GpuOf(const std::vector<TensorChunk>& chunks) {
  for (const TensorChunk& chunk : chunks) {
    if (chunk.tensor.is_cuda()) return chunk.tensor.device();
  }
  return std::nullopt;
}

}  // namespace

TensorChunk WholeTensor(std::string name, torch::Tensor tensor) {
  std::vector<int64_t> shape = tensor.sizes().vec();
  std::vector<int64_t> offset(shape.size(), 0);
  return {std::move(name), std::move(shape), std::move(offset), std::move(tensor)};
}

torch::ScalarType StoredType(const TensorChunk& chunk) {
  return chunk.low_bits.defined() ? torch::kFloat32 : chunk.tensor.scalar_type();
}

int64_t StoredBytes(const TensorChunk& chunk) {
  return chunk.tensor.numel() * static_cast<int64_t>(c10::elementSize(StoredType(chunk)));
}

HostCopy::~HostCopy() {
  if (reserving_.joinable()) reserving_.join();
  // A copy into this memory may still be running, for example if Begin failed midway.
  try {
    if (stream_.has_value()) AwaitStream();
  } catch (const std::exception&) {
    // Ignored: a failed device no longer copies anything.
  }
}

void HostCopy::AwaitStream() const {
  UseDevice(stream_->device());
  c10::Event done(stream_->device_type());
  done.record(*stream_);
  Await(done);
}

void HostCopy::Reserve(const std::vector<TensorChunk>& chunks) {
  if (reserving_.joinable() || !memory_.empty()) return;
  std::vector<std::pair<size_t, bool>> wanted;
  for (const TensorChunk& chunk : WithElements(chunks)) {
    for (const torch::Tensor& tensor : {chunk.tensor, chunk.low_bits}) {
      if (tensor.defined()) wanted.emplace_back(tensor.nbytes(), tensor.is_cuda());
    }
  }
  reserving_ = std::thread([this, wanted = std::move(wanted), gpu = GpuOf(chunks)] {
    try {
      if (gpu.has_value()) UseDevice(*gpu);
      for (const auto& [bytes, for_gpu] : wanted) {
        memory_.push_back(std::make_unique<HostMemory>(bytes, for_gpu));
      }
    } catch (const std::exception&) {
      // Ignored: Begin tries to allocate again, and then reports an error to its caller.
    }
  });
}

torch::Tensor HostCopy::Place(size_t index, const torch::Tensor& tensor) {
  if (index >= memory_.size()) memory_.resize(index + 1);
  std::unique_ptr<HostMemory>& memory = memory_[index];
  if (memory == nullptr || memory->size() < tensor.nbytes()) {
    memory.reset();
    memory = std::make_unique<HostMemory>(tensor.nbytes(), tensor.is_cuda());
  }
  return torch::from_blob(memory->data(), tensor.sizes(), tensor.scalar_type());
}

torch::Tensor HostCopy::BeginCopy(size_t index, const torch::Tensor& tensor) {
  torch::Tensor host = Place(index, tensor);
  host.copy_(tensor.detach(), /*non_blocking=*/tensor.is_cuda());
  return host;
}

void HostCopy::Begin(const std::vector<TensorChunk>& chunks) {
  if (reserving_.joinable()) reserving_.join();
  const torch::NoGradGuard no_grad;
  const std::vector<TensorChunk> some = WithElements(chunks);
  std::optional<c10::StreamGuard> beside;
  copied_.reset();
  const std::optional<torch::Device> gpu = GpuOf(some);
  if (gpu.has_value()) {
    const c10::impl::VirtualGuardImpl streams(gpu->type());
    if (!stream_.has_value()) stream_ = streams.getStreamFromGlobalPool(*gpu);
    // The copies must include the results of all training work that has been queued so far.
    c10::Event trained(gpu->type());
    trained.record(streams.getStream(*gpu));
    trained.block(*stream_);
    beside.emplace(*stream_);
  }
  chunks_.clear();
  size_t tensors = 0;
  for (const TensorChunk& chunk : some) {
    TensorChunk copy = {chunk.name, chunk.global_shape, chunk.offset,
                        BeginCopy(tensors++, chunk.tensor)};
    if (chunk.low_bits.defined()) copy.low_bits = BeginCopy(tensors++, chunk.low_bits);
    chunks_.push_back(std::move(copy));
  }
  if (gpu.has_value()) {
    copied_.emplace(gpu->type());
    copied_->record(*stream_);
  }
}

void HostCopy::BlockChanges() {
  if (!copied_.has_value() || copied_->query()) return;
  const c10::impl::VirtualGuardImpl streams(stream_->device_type());
  copied_->block(streams.getStream(stream_->device()));
}

std::string HostCopy::UnlockedText() const {
  int64_t bytes = 0;
  std::string reason;
  for (const std::unique_ptr<HostMemory>& memory : memory_) {
    if (memory == nullptr || memory->lock_failure().empty()) continue;
    bytes += static_cast<int64_t>(memory->size());
    reason = memory->lock_failure();
  }
  return bytes == 0 ? "" : UnlockedMemoryText(bytes, reason);
}

void HostCopy::Wait() const {
  if (!copied_.has_value()) return;
  UseDevice(stream_->device());
  Await(*copied_);
}

}  // namespace trainyard::trainer
