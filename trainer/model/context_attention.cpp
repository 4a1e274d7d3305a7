#include "trainer/model/context_attention.h"

#include <utility>
#include <vector>

#include "trainer/ops/attention_part.h"
#include "trainer/ops/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Queries and keys that see each other, counted from the first that the two ranks have. Of another
// rank's tokens all or none come before a chunk of this rank's (ContextParallel).
struct VisibleTokens {
  int64_t first_query = 0;
  int64_t queries = 0;
  int64_t keys = 0;  // From the first one on.
  AttentionMask mask = AttentionMask::kNone;
};

VisibleTokens VisibleTo(int64_t rank, int64_t key_rank, int64_t length) {
  if (key_rank == rank) return {0, length, length, AttentionMask::kCausal};
  const int64_t half = length / 2;
  return key_rank < rank ? VisibleTokens{0, length, half} : VisibleTokens{half, half, length};
}

// Keys and values of all ranks, one rank after the other from this one backwards: around a ring,
// the next ones while the caller works with these, or all at once.
class KeyValueStream {
 public:
  // own: [batch, length, 2 * key heads, head_size], contiguous.
  KeyValueStream(const ContextParallel& context, Tensor own)
      : context_(context), current_(std::move(own)) {
    if (context_.exchange() != ContextExchange::kAllGather) return;
    std::vector<int64_t> shape = current_.sizes().vec();
    shape.insert(shape.begin(), context_.size());
    all_ = torch::empty(shape, current_.options());
    context_.group().AllGather(all_, current_).Wait();
  }

  int64_t RankAt(int64_t step) const {
    return (context_.index() - step + context_.size()) % context_.size();
  }

  // Those of RankAt(step); to be called for step 0, 1, ...
  Tensor At(int64_t step) {
    if (all_.defined()) return all_[RankAt(step)];
    if (step > 0) {
      work_.Wait();
      current_ = next_;
    }
    if (step + 1 < context_.size()) BeginNext();
    return current_;
  }

 private:
  void BeginNext() {
    next_ = torch::empty_like(current_);
    work_ = context_.group().Exchange(
        {{Transfer::Direction::kSend, RankAt(context_.size() - 1), current_},
         {Transfer::Direction::kReceive, RankAt(1), next_}});
  }

  const ContextParallel& context_;
  Tensor all_;  // By rank; or undefined for a ring.
  Tensor current_;
  Tensor next_;
  Work work_;
};

// Sums the gradients of each rank's keys and values over the ranks, in the order of KeyValueStream:
// around the same ring, behind the keys and values, or all at once.
class KeyValueGradients {
 public:
  KeyValueGradients(const ContextParallel& context, const Tensor& own_key_values)
      : context_(context),
        options_(own_key_values.options()),
        shape_(own_key_values.sizes().vec()) {
    options_ = options_.dtype(ComputeType(own_key_values.scalar_type()));
    if (context_.exchange() != ContextExchange::kAllGather) return;
    shape_.insert(shape_.begin(), context_.size());
    all_ = torch::zeros(shape_, options_);
    shape_.erase(shape_.begin());
  }

  // The sum so far of the gradients for the keys of step `step`, to be added to.
  Tensor Begin(int64_t step) {
    if (all_.defined()) return all_[RankAt(step)];
    return torch::zeros(shape_, options_);
  }

  // Hands over what Begin has returned.
  void End(int64_t step, Tensor sum) {
    if (all_.defined()) return;
    if (step > 0) {
      work_.Wait();
      sum.add_(received_);
    }
    received_ = torch::empty_like(sum);
    work_ = context_.group().Exchange(
        {{Transfer::Direction::kSend, RankAt(context_.size() - 1), std::move(sum)},
         {Transfer::Direction::kReceive, RankAt(1), received_}});
  }

  // The sum for this rank's own keys and values.
  Tensor Finish() {
    if (all_.defined()) {
      received_ = torch::empty(shape_, options_);
      work_ = context_.group().ReduceScatter(received_, all_);
    }
    work_.Wait();
    return received_;
  }

 private:
  int64_t RankAt(int64_t step) const {
    return (context_.index() - step + context_.size()) % context_.size();
  }

  const ContextParallel& context_;
  torch::TensorOptions options_;
  std::vector<int64_t> shape_;
  Tensor all_;  // By rank; or undefined for a ring.
  Tensor received_;
  Work work_;
};

// Queries, keys and values of the tokens that see each other, without a copy.
AttentionPart VisiblePart(const VisibleTokens& tokens, const Tensor& query, const Tensor& key_value,
                     int64_t key_heads) {
  const Tensor keys = key_value.narrow(1, 0, tokens.keys);
  return {query.narrow(1, tokens.first_query, tokens.queries), keys.narrow(2, 0, key_heads),
          keys.narrow(2, key_heads, key_heads), tokens.mask};
}

Tensor KeyValues(const Tensor& packed, const AttentionHeads& heads) {
  return packed.narrow(2, heads.query_heads, 2 * heads.key_heads).contiguous();
}

}  // namespace

Tensor ContextAttentionForward(const Tensor& packed, const AttentionHeads& heads,
                               const ContextParallel& context, Tensor& out) {
  const Tensor query = packed.narrow(2, 0, heads.query_heads);
  KeyValueStream stream(context, KeyValues(packed, heads));
  Tensor sum, log_sum_exp;
  for (int64_t step = 0; step < context.size(); ++step) {
    const VisibleTokens tokens = VisibleTo(context.index(), stream.RankAt(step), packed.size(1));
    const AttentionPart part = VisiblePart(tokens, query, stream.At(step), heads.key_heads);
    Tensor part_out =
        torch::empty({out.size(0), tokens.queries, out.size(2), out.size(3)}, out.options());
    const Tensor part_log_sum_exp = AttentionPartForward(part, part_out);
    if (step == 0) {  // The rank's own tokens: each sees at least itself.
      sum = part_out.to(ComputeType(out.scalar_type()), /*non_blocking=*/false, /*copy=*/true);
      log_sum_exp = part_log_sum_exp;
      continue;
    }
    Tensor sum_part = sum.narrow(1, tokens.first_query, tokens.queries);
    Tensor log_part = log_sum_exp.narrow(2, tokens.first_query, tokens.queries);
    MergeAttention(sum_part, log_part, part_out, part_log_sum_exp);
  }
  out.copy_(sum);
  return log_sum_exp;
}

void ContextAttentionBackward(const Tensor& dout, const AttentionKept& kept,
                              const AttentionHeads& heads, Reproducible reproducible,
                              const ContextParallel& context, Tensor& d_packed) {
  const Tensor query = kept.packed.narrow(2, 0, heads.query_heads);
  const Tensor key_value = KeyValues(kept.packed, heads);
  KeyValueStream stream(context, key_value);
  KeyValueGradients key_value_gradients(context, key_value);
  const Tensor d_query =
      torch::zeros(query.sizes(), dout.options().dtype(ComputeType(dout.scalar_type())));
  for (int64_t step = 0; step < context.size(); ++step) {
    const VisibleTokens tokens =
        VisibleTo(context.index(), stream.RankAt(step), kept.packed.size(1));
    const AttentionPart part = VisiblePart(tokens, query, stream.At(step), heads.key_heads);
    const auto of_queries = [&](const Tensor& whole) {
      return whole.narrow(1, tokens.first_query, tokens.queries);
    };
    const AttentionPartGradients d_part = {torch::empty(part.query.sizes(), query.options()),
                                           torch::empty(part.key.sizes(), query.options()),
                                           torch::empty(part.value.sizes(), query.options())};
    const Tensor log_sum_exp =
        kept.softmax.narrow(2, tokens.first_query, tokens.queries).contiguous();
    AttentionPartBackward(part, {of_queries(dout), of_queries(kept.out), log_sum_exp}, reproducible,
                          d_part);
    of_queries(d_query).add_(d_part.query);
    Tensor d_key_value = key_value_gradients.Begin(step);
    const Tensor seen = d_key_value.narrow(1, 0, tokens.keys);
    seen.narrow(2, 0, heads.key_heads).add_(d_part.key);
    seen.narrow(2, heads.key_heads, heads.key_heads).add_(d_part.value);
    key_value_gradients.End(step, std::move(d_key_value));
  }
  d_packed.narrow(2, 0, heads.query_heads).copy_(d_query);
  d_packed.narrow(2, heads.query_heads, 2 * heads.key_heads).copy_(key_value_gradients.Finish());
}

}  // namespace trainyard::trainer
