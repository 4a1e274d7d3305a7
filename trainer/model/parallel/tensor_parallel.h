// Exchanges activations among tensor-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_PARALLEL_TENSOR_PARALLEL_H_
#define TRAINYARD_TRAINER_MODEL_PARALLEL_TENSOR_PARALLEL_H_

#include <torch/types.h>

#include <cstdint>
#include <utility>

#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// A tensor that becomes available when an operation completes.
class PendingTensor {
 public:
  PendingTensor(torch::Tensor tensor, Work work)
      : tensor_(std::move(tensor)), work_(std::move(work)) {}

  torch::Tensor Get() { return Add(torch::Tensor()); }

  // Returns the tensor + `residual`. Only for sums over ranks, which are rounded before `residual`
  // is added.
  torch::Tensor GetPlus(const torch::Tensor& residual) { return Add(residual); }

  // Returns the rows that came from one of `ranks` ranks. Only for gathered rows. Get must be
  // called afterwards.
  torch::Tensor GetRowsOf(int64_t rank, int64_t ranks) {
    work_.WaitForPart(rank);
    const int64_t rows = tensor_.size(0) / ranks;
    return tensor_.narrow(0, rank * rows, rows);
  }

 private:
  // `residual` may be undefined.
  torch::Tensor Add(const torch::Tensor& residual);

  torch::Tensor tensor_;
  Work work_;
};

// Ranks that compute the same rows, each with a part of every matrix (Shoeybi et al. 2019, arXiv
// 1909.08053). Between matrix products, each rank has all rows or, with sequence parallelism
// (Korthikanti et al. 2022, arXiv 2205.05198), one of `size` equal parts, in rank order. In the
// forward pass, Gather precedes a matrix that is split by output columns, and Sum follows a matrix
// that is split by input columns. In the backward pass, Sum and Gather change
// places.
class TensorParallel {
 public:
  TensorParallel() = default;  // One rank.
  // The communicator must outlive this object.
  TensorParallel(Communicator& group, bool splits_rows)
      : group_(group.size() > 1 ? &group : nullptr), splits_rows_(splits_rows) {}

  int64_t size() const { return group_ == nullptr ? 1 : group_->size(); }
  int64_t index() const { return group_ == nullptr ? 0 : group_->rank(); }
  Communicator* group() const { return group_; }  // Null if there is only one rank.
  // True if each rank has only a part of the rows between matrix products.
  bool splits_rows() const { return group_ != nullptr && splits_rows_; }
  int64_t RowsHere(int64_t rows) const { return splits_rows() ? rows / size() : rows; }
  int64_t AllRows(int64_t here) const { return splits_rows() ? here * size() : here; }

  // Starts to gather the rows of all ranks. `rows` is [RowsHere(n), width]. The result contains all
  // n rows, except for this rank's own rows if they are kUndefined.
  PendingTensor BeginGather(const torch::Tensor& rows, OwnPart own_part = OwnPart::kCopied) const;
  torch::Tensor Gather(const torch::Tensor& rows) const { return BeginGather(rows).Get(); }

  // Starts a sum over the ranks. `part` is this rank's summand, [n, width], and may be overwritten.
  // The result is [RowsHere(n), width].
  PendingTensor BeginSum(torch::Tensor part) const;
  // Like BeginSum, but first computes `part`, piece by piece. The rows that other ranks need are
  // computed first and exchanged while the next ones are computed.
  PendingTensor BeginSum(torch::Tensor part, const ComputedInput& computed) const;
  torch::Tensor Sum(torch::Tensor part) const { return BeginSum(std::move(part)).Get(); }

  // Returns the tensors of all ranks, [size, ...]. All tensors must have the same shape.
  torch::Tensor Collect(const torch::Tensor& tensor) const;

 private:
  Communicator* group_ = nullptr;  // Null if there is only one rank.
  bool splits_rows_ = false;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARALLEL_TENSOR_PARALLEL_H_
