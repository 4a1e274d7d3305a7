// Attention over one sequence, divided among ranks in zigzag halves. One process computes it part
// by part, as a ring of ranks would.
#ifndef TRAINYARD_TESTS_TRAINER_OPS_ZIGZAG_RING_H_
#define TRAINYARD_TESTS_TRAINER_OPS_ZIGZAG_RING_H_

#include <torch/types.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "trainer/ops/attention/attention_part.h"
#include "trainer/ops/tensors/attention_heads.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

struct RingResult {
  torch::Tensor out;          // [batch, length, query_heads, head_size], in the compute type.
  torch::Tensor log_sum_exp;  // [batch, query_heads, length]
  torch::Tensor d_packed;     // Like packed rows, in the compute type.
};

// The sequence is divided into 2 * ranks chunks. Rank r has the chunks r and 2 * ranks - 1 - r, so
// that causal attention needs equally many query-key pairs on each rank.
class ZigzagRing {
 public:
  // `packed` is a whole sequence of packed rows (attention_heads.h). Its length must be a multiple
  // of 2 * ranks.
  ZigzagRing(const torch::Tensor& packed, const AttentionHeads& heads, int64_t ranks)
      : heads_(heads), ranks_(ranks), chunk_(packed.size(1) / (2 * ranks)) {
    for (int64_t rank = 0; rank < ranks; ++rank) packed_.push_back(HalvesOf(packed, 1, rank));
  }

  // Runs, for each rank, the forward pass over all parts and then the backward pass from `dout`
  // with the combined softmax statistics.
  RingResult Run(const torch::Tensor& dout) {
    RingResult result{torch::empty(dout.sizes(), Wide(dout)), LogSumExps(), torch::Tensor()};
    std::vector<torch::Tensor> gradients;
    for (const torch::Tensor& packed : packed_) {
      gradients.push_back(torch::zeros(packed.sizes(), Wide(packed)));
    }
    for (int64_t rank = 0; rank < ranks_; ++rank) {
      auto [out, log_sum_exp] = Forward(rank);
      PutHalves(out, 1, rank, result.out);
      PutHalves(log_sum_exp, 2, rank, result.log_sum_exp);
      Backward(rank, {HalvesOf(dout, 1, rank), out.to(dout.scalar_type()), log_sum_exp}, gradients);
    }
    result.d_packed = torch::empty(
        {dout.size(0), dout.size(1), heads_.packed_heads(), heads_.head_size}, Wide(dout));
    for (int64_t rank = 0; rank < ranks_; ++rank) {
      PutHalves(gradients[rank], 1, rank, result.d_packed);
    }
    return result;
  }

 private:
  // Rows [first, first + length) of a rank.
  struct Range {
    int64_t first;
    int64_t length;
  };
  struct RingStep {
    Range queries;
    Range keys;
    AttentionMask mask;
  };

  static torch::TensorOptions Wide(const torch::Tensor& like) {
    return like.options().dtype(ComputeType(like.scalar_type()));
  }
  torch::Tensor LogSumExps() const {
    const torch::Tensor& packed = packed_[0];
    return torch::full({packed.size(0), heads_.query_heads, 2 * chunk_ * ranks_},
                       -std::numeric_limits<double>::infinity(), Wide(packed));
  }
  torch::Tensor HalvesOf(const torch::Tensor& whole, int64_t dim, int64_t rank) const {
    return torch::cat({whole.narrow(dim, rank * chunk_, chunk_),
                       whole.narrow(dim, (2 * ranks_ - 1 - rank) * chunk_, chunk_)},
                      dim);
  }
  void PutHalves(const torch::Tensor& halves, int64_t dim, int64_t rank,
                 const torch::Tensor& whole) const {
    whole.narrow(dim, rank * chunk_, chunk_).copy_(halves.narrow(dim, 0, chunk_));
    whole.narrow(dim, (2 * ranks_ - 1 - rank) * chunk_, chunk_)
        .copy_(halves.narrow(dim, chunk_, chunk_));
  }

  // Returns the step in which `rank` combines its queries with the keys of `sender`. A mask is
  // needed only if `rank` and `sender` are equal.
  RingStep StepOf(int64_t rank, int64_t sender) const {
    const Range all{0, 2 * chunk_}, early{0, chunk_}, late{chunk_, chunk_};
    if (sender == rank) return {all, all, AttentionMask::kCausal};
    if (sender < rank) return {all, early, AttentionMask::kNone};
    return {late, all, AttentionMask::kNone};
  }
  // Views, not copies.
  AttentionPart PartOf(int64_t rank, int64_t sender, const RingStep& step) const {
    const auto rows = [](const torch::Tensor& packed, const Range& range) {
      return packed.narrow(1, range.first, range.length);
    };
    const torch::Tensor own = rows(packed_[rank], step.queries);
    const torch::Tensor sent = rows(packed_[sender], step.keys);
    const int64_t queries = heads_.query_heads, keys = heads_.key_heads;
    return {own.narrow(2, 0, queries), sent.narrow(2, queries, keys),
            sent.narrow(2, queries + keys, keys), step.mask};
  }
  // Returns the rank whose keys arrive in `step`. In step 0, a rank uses its own keys.
  int64_t SenderOf(int64_t rank, int64_t step) const { return (rank + ranks_ - step) % ranks_; }

  struct Merged {
    torch::Tensor out;
    torch::Tensor log_sum_exp;
  };
  Merged Forward(int64_t rank) const {
    const torch::Tensor& packed = packed_[rank];
    Merged merged{torch::zeros({packed.size(0), 2 * chunk_, heads_.query_heads, heads_.head_size},
                               Wide(packed)),
                  LogSumExps().narrow(2, 0, 2 * chunk_).clone()};
    for (int64_t i = 0; i < ranks_; ++i) {
      const int64_t sender = SenderOf(rank, i);
      const RingStep step = StepOf(rank, sender);
      const AttentionPart part = PartOf(rank, sender, step);
      torch::Tensor out = torch::empty(part.query.sizes(), packed.options());
      const torch::Tensor log_sum_exp = AttentionPartForward(part, out);
      torch::Tensor out_sum = merged.out.narrow(1, step.queries.first, step.queries.length);
      torch::Tensor sum = merged.log_sum_exp.narrow(2, step.queries.first, step.queries.length);
      MergeAttention(out_sum, sum, out, log_sum_exp);
    }
    return merged;
  }

  // Runs the rank's part of the backward pass. Adds to the gradients of all ranks, because every
  // rank's keys are used.
  void Backward(int64_t rank, const WholeAttention& whole,
                const std::vector<torch::Tensor>& gradients) const {
    const int64_t queries = heads_.query_heads, keys = heads_.key_heads;
    for (int64_t i = 0; i < ranks_; ++i) {
      const int64_t sender = SenderOf(rank, i);
      const RingStep step = StepOf(rank, sender);
      const AttentionPart part = PartOf(rank, sender, step);
      const AttentionPartGradients of_part{torch::empty(part.query.sizes(), part.query.options()),
                                           torch::empty(part.key.sizes(), part.key.options()),
                                           torch::empty(part.value.sizes(), part.value.options())};
      const auto [first, length] = step.queries;
      AttentionPartBackward(
          part,
          {whole.dout.narrow(1, first, length), whole.out.narrow(1, first, length),
           whole.log_sum_exp.narrow(2, first, length)},
          Reproducible::kYes, of_part);
      gradients[rank].narrow(1, first, length).narrow(2, 0, queries).add_(of_part.query);
      const torch::Tensor sent = gradients[sender].narrow(1, step.keys.first, step.keys.length);
      sent.narrow(2, queries, keys).add_(of_part.key);
      sent.narrow(2, queries + keys, keys).add_(of_part.value);
    }
  }

  AttentionHeads heads_;
  int64_t ranks_;
  int64_t chunk_;
  std::vector<torch::Tensor> packed_;  // One per rank.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_OPS_ZIGZAG_RING_H_
