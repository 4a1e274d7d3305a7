// Copies of tensors in host memory, taken while training goes on.
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

// An N-dimensional box of a logical tensor that this rank writes. Padding is never part of it.
struct TensorChunk {
  std::string name;  // logical (Hugging Face) name, with a prefix for optimizer state
  std::vector<int64_t> global_shape;  // of the logical tensor
  std::vector<int64_t> offset;        // of the box; same length as global_shape
  torch::Tensor tensor;               // contents; its shape is the box's shape; any device
  // The low halves of fp32 master weights whose bf16 values are `tensor` (ops/master_weights.h), of
  // the same shape and on the same device. The checkpoint gets the fp32 weights.
  torch::Tensor low_bits = {};
};

// Type and bytes of the chunk in a checkpoint.
torch::ScalarType StoredType(const TensorChunk& chunk);
int64_t StoredBytes(const TensorChunk& chunk);

// From a GPU the copies run on a stream of their own, while training goes on. The tensors must not
// change before the copies are done, which HoldBackChanges ensures. From the CPU the copies are
// done when Begin returns. Tensors of one process are on the CPU and on at most one GPU. Wait is
// for any thread, everything else for the training thread.
class HostCopy {
 public:
  HostCopy() = default;
  ~HostCopy();
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;

  // Allocates the memory for copies of these chunks in the background; the first Begin waits for
  // it. Without this call the first Begin allocates the memory itself.
  void Reserve(const std::vector<TensorChunk>& chunks);

  // Starts copying. The tensors must live until Wait has returned. The previous copy must not be in
  // use any more. Chunks without elements are left out: an uneven split gives some ranks nothing
  // of a tensor. Throws TrainerError kInternal for a chunk that is outside of its tensor.
  void Begin(const std::vector<TensorChunk>& chunks);

  // Work that is queued on the caller's current stream from now on waits until the copies are done.
  // The caller itself does not wait.
  void HoldBackChanges();

  // Returns when the copies are done. Makes the tensors' GPU the current one of the calling thread.
  void Wait() const;

  // UnlockedMemoryText of the memory that is in use; empty when all of it is as it should be. After
  // Begin, for any thread.
  std::string UnlockedText() const;

  // The copied chunks, in host memory; complete after Wait.
  const std::vector<TensorChunk>& chunks() const { return chunks_; }

 private:
  torch::Tensor Place(size_t index, const torch::Tensor& tensor);
  // Starts a copy into the memory with this index.
  torch::Tensor BeginCopy(size_t index, const torch::Tensor& tensor);
  // Returns when everything that is queued on stream_ is done.
  void AwaitStream() const;

  // Of each tensor of the chunks in turn, at least as large as the tensor needs.
  std::vector<std::unique_ptr<HostMemory>> memory_;
  std::thread reserving_;  // writes memory_ until joined
  std::vector<TensorChunk> chunks_;
  std::optional<c10::Stream> stream_;  // of the GPU's copies
  std::optional<c10::Event> copied_;   // none when nothing is on a GPU
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_HOST_COPY_H_
