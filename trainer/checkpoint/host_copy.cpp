#include "trainer/checkpoint/host_copy.h"

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "trainer/checkpoint/box.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Tensors are copied in pieces of at most this size.
constexpr int64_t kPieceBytes = 16 << 20;

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

std::vector<Tensor> TensorsOf(const std::vector<TensorChunk>& chunks) {
  std::vector<Tensor> tensors;
  for (const TensorChunk& chunk : chunks) {
    tensors.push_back(chunk.tensor.detach());
    if (chunk.low_bits.defined()) tensors.push_back(chunk.low_bits.detach());
  }
  return tensors;
}

// Replaces tensors that are not contiguous by contiguous copies. Returns these copies.
std::vector<Tensor> MakeContiguous(std::vector<Tensor>& tensors) {
  std::vector<Tensor> copies;
  for (Tensor& tensor : tensors) {
    if (tensor.is_contiguous()) continue;
    tensor = tensor.contiguous();
    copies.push_back(tensor);
  }
  return copies;
}

const void* DataOf(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

// Appends the pieces of a copy.
void AddPieces(const Tensor& to, const Tensor& from, std::vector<CopyPiece>& pieces) {
  for (int64_t at = 0, all = static_cast<int64_t>(from.nbytes()); at < all; at += kPieceBytes) {
    pieces.push_back({static_cast<char*>(to.data_ptr()) + at,
                      static_cast<const char*>(from.data_ptr()) + at,
                      std::min(kPieceBytes, all - at)});
  }
}

std::optional<torch::Device> GpuOf(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.is_cuda()) return tensor.device();
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

HostCopy::HostCopy(std::unique_ptr<CopyQueue> queue)
    : queues_cpu_tensors_(true), staged_(std::make_unique<StagedCopy>(std::move(queue))) {}

HostCopy::~HostCopy() {
  if (reserving_.joinable()) reserving_.join();
  staged_.reset();  // A copy into memory_ may still be running.
}

void HostCopy::Reserve(const std::vector<TensorChunk>& chunks) {
  if (reserving_.joinable() || !memory_.empty()) return;
  const std::vector<Tensor> tensors = TensorsOf(WithElements(chunks));
  std::vector<std::pair<size_t, bool>> wanted;
  for (const Tensor& tensor : tensors) wanted.emplace_back(tensor.nbytes(), tensor.is_cuda());
  reserving_ = std::thread([this, wanted = std::move(wanted), gpu = GpuOf(tensors)] {
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

Tensor HostCopy::Place(size_t index, const Tensor& tensor) {
  if (index >= memory_.size()) memory_.resize(index + 1);
  std::unique_ptr<HostMemory>& memory = memory_[index];
  if (memory == nullptr || memory->size() < tensor.nbytes()) {
    memory.reset();
    memory = std::make_unique<HostMemory>(tensor.nbytes(), tensor.is_cuda());
  }
  return torch::from_blob(memory->data(), tensor.sizes(), tensor.scalar_type());
}

void HostCopy::Begin(const std::vector<TensorChunk>& chunks, CopyPace pace) {
  if (reserving_.joinable()) reserving_.join();
  const torch::NoGradGuard no_grad;
  if (!ArePlaced(chunks)) PlaceAll(chunks);
  for (const auto& [host, source] : of_cpu_) Tensor(host).copy_(source);
  of_cpu_.clear();
  if (pieces_.empty()) return;
  if (staged_ == nullptr) staged_ = std::make_unique<StagedCopy>(MakeCopyQueue(*gpu_));
  staged_->Begin(pieces_, pace);
}

// True if the preceding copy was of the same chunks. A save has hundreds of chunks, and training
// waits while they are placed.
bool HostCopy::ArePlaced(const std::vector<TensorChunk>& chunks) const {
  if (placed_.empty()) return false;
  return std::equal(chunks.begin(), chunks.end(), placed_.begin(), placed_.end(),
                    [](const TensorChunk& chunk, const PlacedChunk& placed) {
                      return chunk.name == placed.name && chunk.offset == placed.offset &&
                             chunk.global_shape == placed.global_shape &&
                             chunk.tensor.sizes() == placed.shape &&
                             chunk.tensor.scalar_type() == placed.type &&
                             DataOf(chunk.tensor) == placed.data &&
                             DataOf(chunk.low_bits) == placed.low_bits;
                    });
}

void HostCopy::PlaceAll(const std::vector<TensorChunk>& chunks) {
  placed_.clear();
  const std::vector<TensorChunk> some = WithElements(chunks);
  std::vector<Tensor> sources = TensorsOf(some);
  contiguous_ = MakeContiguous(sources);
  gpu_ = GpuOf(sources);
  const std::vector<Tensor> copies = PlaceCopies(sources);
  chunks_.clear();
  size_t tensor = 0;
  for (const TensorChunk& chunk : some) {
    TensorChunk copy = {chunk.name, chunk.global_shape, chunk.offset, copies[tensor++]};
    if (chunk.low_bits.defined()) copy.low_bits = copies[tensor++];
    chunks_.push_back(std::move(copy));
  }
  if (!contiguous_.empty() || !of_cpu_.empty()) return;
  for (const TensorChunk& chunk : chunks) {
    placed_.push_back({chunk.name, chunk.global_shape, chunk.offset, chunk.tensor.sizes().vec(),
                       chunk.tensor.scalar_type(), DataOf(chunk.tensor), DataOf(chunk.low_bits)});
  }
}

std::vector<Tensor> HostCopy::PlaceCopies(const std::vector<Tensor>& sources) {
  pieces_.clear();
  of_cpu_.clear();
  std::vector<Tensor> copies;
  for (size_t i = 0; i < sources.size(); ++i) {
    copies.push_back(Place(i, sources[i]));
    if (sources[i].is_cuda() || queues_cpu_tensors_) {
      AddPieces(copies.back(), sources[i], pieces_);
    } else {
      of_cpu_.emplace_back(copies.back(), sources[i]);
    }
  }
  return copies;
}

void HostCopy::BlockChanges() {
  if (staged_ != nullptr) staged_->BlockChanges();
}

bool HostCopy::CanBlockChanges() const { return staged_ == nullptr || staged_->CanBlockChanges(); }

double HostCopy::StagingSeconds() const {
  return staged_ == nullptr ? 0 : staged_->staging_seconds();
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
  if (staged_ != nullptr) staged_->Wait();
}

}  // namespace trainyard::trainer
