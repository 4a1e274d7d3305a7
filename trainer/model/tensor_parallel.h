// The exchange of activations among tensor-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_TENSOR_PARALLEL_H_
#define TRAINYARD_TRAINER_MODEL_TENSOR_PARALLEL_H_

#include <torch/types.h>

#include <cstdint>
#include <utility>

#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// A tensor that is there once its operation is done.
class PendingTensor {
 public:
  PendingTensor(torch::Tensor tensor, Work work)
      : tensor_(std::move(tensor)), work_(std::move(work)) {}

  torch::Tensor Get() {
    work_.Wait();
    return tensor_;
  }

 private:
  torch::Tensor tensor_;
  Work work_;
};

// Ranks that compute the same rows with a part of each matrix (Shoeybi et al. 2019, arXiv
// 1909.08053). Between the matrices a rank has all rows, or with sequence parallelism (Korthikanti
// et al. 2022, arXiv 2205.05198) those of its part, `size` equal parts in the order of the ranks.
// Gather before a matrix that is cut by columns of its output, Sum behind one that is cut by
// columns of its input; in the backward pass the two change places.
class TensorParallel {
 public:
  TensorParallel() = default;  // One rank.
  // The communicator must outlive this.
  TensorParallel(Communicator& group, bool splits_rows)
      : group_(group.size() > 1 ? &group : nullptr), splits_rows_(splits_rows) {}

  int64_t size() const { return group_ == nullptr ? 1 : group_->size(); }
  int64_t index() const { return group_ == nullptr ? 0 : group_->rank(); }
  // True when a rank has a part of the rows between the matrices.
  bool splits_rows() const { return group_ != nullptr && splits_rows_; }
  int64_t RowsHere(int64_t rows) const { return splits_rows() ? rows / size() : rows; }
  int64_t AllRows(int64_t here) const { return splits_rows() ? here * size() : here; }

  // rows: [RowsHere(n), width]. All n rows.
  PendingTensor BeginGather(const torch::Tensor& rows) const;
  torch::Tensor Gather(const torch::Tensor& rows) const { return BeginGather(rows).Get(); }

  // part: [n, width], one summand of each rank; may be overwritten. [RowsHere(n), width].
  PendingTensor BeginSum(torch::Tensor part) const;
  torch::Tensor Sum(torch::Tensor part) const { return BeginSum(std::move(part)).Get(); }

  // tensor: of the same shape on all ranks. Theirs one after the other, [size, ...].
  torch::Tensor Collect(const torch::Tensor& tensor) const;

 private:
  Communicator* group_ = nullptr;  // Null for one rank.
  bool splits_rows_ = false;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_TENSOR_PARALLEL_H_
