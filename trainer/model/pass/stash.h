// The tensors that a forward pass keeps for its backward pass. They are the activation memory of a
// micro-batch.
#ifndef TRAINYARD_TRAINER_MODEL_PASS_STASH_H_
#define TRAINYARD_TRAINER_MODEL_PASS_STASH_H_

#include <torch/types.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace trainyard::trainer {

// A stack of tensors. Backward pops the tensors in the reverse of the order in which Forward pushed
// them. The memory of a popped tensor is freed when its user releases the tensor. A pipeline has
// one stash per micro-batch in flight.
class Stash {
 public:
  enum class Mode { kKeep, kDiscard };  // kDiscard: no backward pass follows.

  explicit Stash(Mode mode = Mode::kKeep) : mode_(mode) {}

  // False if tensors are discarded. Forward may then skip computing tensors that it would only
  // push.
  bool keeps() const { return mode_ == Mode::kKeep; }

  void Push(torch::Tensor tensor) {
    if (keeps()) tensors_.push_back(std::move(tensor));
  }

  torch::Tensor Pop() {
    TORCH_CHECK(!tensors_.empty(),
                "a backward pass needs more saved tensors than its forward pass saved");
    torch::Tensor tensor = std::move(tensors_.back());
    tensors_.pop_back();
    return tensor;
  }

  bool empty() const { return tensors_.empty(); }

  // Returns the total size of the kept tensors in bytes. A tensor that was pushed twice counts
  // twice.
  int64_t bytes() const {
    int64_t sum = 0;
    for (const torch::Tensor& tensor : tensors_) sum += static_cast<int64_t>(tensor.nbytes());
    return sum;
  }

 private:
  Mode mode_;
  std::vector<torch::Tensor> tensors_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PASS_STASH_H_
