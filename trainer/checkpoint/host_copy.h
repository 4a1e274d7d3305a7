// Copies of tensors in host memory, taken during training.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_HOST_COPY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_HOST_COPY_H_

#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "trainer/checkpoint/host_memory.h"

namespace trainyard::trainer {

// An N-dimensional box of a logical tensor, written by this rank. Never includes padding.
struct TensorChunk {
  std::string name;                   // Logical (Hugging Face) name, prefixed for optimizer state.
  std::vector<int64_t> global_shape;  // Shape of the logical tensor.
  std::vector<int64_t> offset;        // Offset of the box; as long as global_shape.
  torch::Tensor tensor;               // Contents, in the shape of the box; any device.
  // Low halves of fp32 master weights whose bf16 values are in `tensor` (ops/master_weights.h),
  // with the same shape and device. The checkpoint stores the fp32 weights.
  torch::Tensor low_bits = {};
};

// A whole tensor as one chunk.
TensorChunk WholeTensor(std::string name, torch::Tensor tensor);

// Type and bytes of the chunk in a checkpoint.
torch::ScalarType StoredType(const TensorChunk& chunk);
int64_t StoredBytes(const TensorChunk& chunk);

// Copies from a GPU run on their own stream, concurrently with training. The tensors must not
// change before the copies are complete, which BlockChanges ensures. Copies from the CPU are
// complete when Begin returns. A process's tensors are on the CPU and at most one GPU. Wait is
// thread-safe; all other methods are for the training thread.
class HostCopy {
 public:
  HostCopy() = default;
  ~HostCopy();
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;

  // Allocates the memory for copies of these chunks in the background; the first Begin waits for
  // it. Without this call, Begin allocates the memory.
  void Reserve(const std::vector<TensorChunk>& chunks);

  // Starts copying. The tensors must stay alive until Wait has returned. The previous copy must no
  // longer be in use. Skips chunks without elements: an uneven split leaves some ranks nothing of a
  // tensor. Throws TrainerError kInternal for a chunk outside of its tensor.
  void Begin(const std::vector<TensorChunk>& chunks);

  // Makes work queued on the caller's current stream from now on wait for the copies. The caller
  // does not wait.
  void BlockChanges();

  // Returns when the copies are complete. Makes the tensors' GPU current on the calling thread.
  void Wait() const;

  // UnlockedMemoryText of the memory in use; "" if all of it is page-locked as intended. Call after
  // Begin. Thread-safe.
  std::string UnlockedText() const;

  // The copied chunks, in host memory; complete after Wait.
  const std::vector<TensorChunk>& chunks() const { return chunks_; }

 private:
  torch::Tensor Place(size_t index, const torch::Tensor& tensor);
  // Starts a copy into memory_[index].
  torch::Tensor BeginCopy(size_t index, const torch::Tensor& tensor);
  // Returns when all work queued on stream_ is done.
  void AwaitStream() const;

  // One per tensor of the chunks, in order, each at least as large as the tensor.
  std::vector<std::unique_ptr<HostMemory>> memory_;
  std::thread reserving_;  // Writes memory_ until joined.
  std::vector<TensorChunk> chunks_;
  std::optional<c10::Stream> stream_;  // Stream of the GPU's copies.
  std::optional<c10::Event> copied_;   // None if no tensor is on a GPU.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_HOST_COPY_H_
