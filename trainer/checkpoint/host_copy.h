// Copies tensors to host memory while training continues.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_HOST_COPY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_HOST_COPY_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/checkpoint/host_memory.h"
#include "trainer/checkpoint/staged_copy.h"

namespace trainyard::trainer {

// An N-dimensional box of a logical tensor that this rank writes. It never includes padding.
struct TensorChunk {
  std::string name;                   // Logical (Hugging Face) name; optimizer state has a prefix.
  std::vector<int64_t> global_shape;  // Shape of the logical tensor.
  std::vector<int64_t> offset;        // Offset of the box, one value per dimension of global_shape.
  torch::Tensor tensor;               // Elements of the box, in its shape, on any device.
  // The low halves of fp32 master weights, if `tensor` contains their bf16 values
  // (ops/master_weights.h). Has the same shape and device as `tensor`. The checkpoint stores the
  // fp32 weights.
  torch::Tensor low_bits = {};
};

TensorChunk WholeTensor(std::string name, torch::Tensor tensor);

// The type (StoredType) and the size in bytes (StoredBytes) that the chunk has in a checkpoint.
torch::ScalarType StoredType(const TensorChunk& chunk);
int64_t StoredBytes(const TensorChunk& chunk);

// Copies tensors to host memory. Copies from a GPU run concurrently with training. The tensors must
// not change before they are copied or staged in device memory; call BlockChanges to ensure that.
// Copies from the CPU are complete when Begin returns. The tensors of a process may be on the CPU
// and on at most one GPU. Wait may be called from any thread; all other methods only from the
// training thread.
class HostCopy {
 public:
  HostCopy() = default;
  // For tests: copies all tensors by this queue, as if they were on a GPU.
  explicit HostCopy(std::unique_ptr<CopyQueue> queue);
  ~HostCopy();
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;

  // Allocates, in the background, the memory for copies of these chunks. The first Begin waits for
  // the allocation. If Reserve was not called, Begin allocates the memory. A later call does
  // nothing.
  void Reserve(const std::vector<TensorChunk>& chunks);

  // Starts copying. The tensors must stay alive until Wait has returned, and the preceding copy
  // must no longer be in use. Skips chunks without elements, which exist because an uneven split
  // may assign no part of a tensor to some ranks. Throws TrainerError kInternal if a chunk is not
  // inside its tensor.
  void Begin(const std::vector<TensorChunk>& chunks, CopyPace pace = CopyPace::kBesideTraining);

  // Work that the caller queues later on its current stream may change the tensors: it will wait
  // until they are copied or staged. The caller itself waits until CanBlockChanges, which may
  // depend on other ranks. A caller that must notice the loss of a rank waits for it first.
  void BlockChanges();
  bool CanBlockChanges() const;

  // Waits until the copies are complete. If tensors are on a GPU, makes it the current device of
  // the calling thread.
  void Wait() const;

  // Returns the time for which a GPU copied tensors within its memory for the copy before the
  // latest one; 0 if unknown. Training is slower in this time.
  double StagingSeconds() const;

  // Returns UnlockedMemoryText for the memory in use; "" if all memory for a GPU is page-locked.
  // Call it after Begin. Thread-safe.
  std::string UnlockedText() const;

  // The copies of the chunks in host memory. Complete only after Wait.
  const std::vector<TensorChunk>& chunks() const { return chunks_; }

 private:
  torch::Tensor Place(size_t index, const torch::Tensor& tensor);
  bool ArePlaced(const std::vector<TensorChunk>& chunks) const;
  void PlaceAll(const std::vector<TensorChunk>& chunks);
  // Returns the tensors' places in host memory, and sets pieces_ and of_cpu_.
  std::vector<torch::Tensor> PlaceCopies(const std::vector<torch::Tensor>& sources);

  // A chunk of the latest copy. It does not keep the tensors, because snapshots outlive the model.
  struct PlacedChunk {
    std::string name;
    std::vector<int64_t> global_shape;
    std::vector<int64_t> offset;
    std::vector<int64_t> shape;
    torch::ScalarType type;
    const void* data = nullptr;
    const void* low_bits = nullptr;
  };

  const bool queues_cpu_tensors_ = false;
  // One buffer per tensor of the chunks, in order. A buffer is at least as large as its tensor.
  std::vector<std::unique_ptr<HostMemory>> memory_;
  std::thread reserving_;  // Writes memory_. Join it before reading memory_.
  std::vector<TensorChunk> chunks_;
  // The latest copy, if the next copy of the same chunks can reuse its pieces.
  std::vector<PlacedChunk> placed_;
  std::vector<CopyPiece> pieces_;  // Pieces of the tensors on a GPU.
  // Places of the tensors on the CPU in host memory, and these tensors.
  std::vector<std::pair<torch::Tensor, torch::Tensor>> of_cpu_;
  std::optional<torch::Device> gpu_;
  // Copies of tensors that were not contiguous, kept until they are copied.
  std::vector<torch::Tensor> contiguous_;
  std::unique_ptr<StagedCopy> staged_;  // Null if no tensor is on a GPU.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_HOST_COPY_H_
