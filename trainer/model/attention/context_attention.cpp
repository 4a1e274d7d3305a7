#include "trainer/model/attention/context_attention.h"

#include <utility>
#include <vector>

#include "proto/layout/layout_parts.h"
#include "proto/rules/attention_pieces.h"
#include "trainer/model/attention/exchanged_attention.h"
#include "trainer/model/attention/visible_tokens.h"
#include "trainer/ops/attention/attention_part.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Provides the keys and values of all ranks, in the order RankAt(0), RankAt(1), ...: this rank
// first, then the ranks before it. With kAllGather, all keys and values arrive in the constructor.
// Otherwise, they travel around a ring while the caller computes.
class KeyValueStream {
 public:
  // `own` is [batch, length, width], contiguous: a row from KeyValues for each token.
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

  // Returns the keys and values of RankAt(step). The caller must call At with step 0, 1, 2, ... in
  // this order.
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
  Tensor all_;  // Indexed by rank. Undefined if the exchange is a ring.
  Tensor current_;
  Tensor next_;
  Work work_;
};

// Sums, over the ranks, the gradients of each rank's keys and values. Uses the steps of
// KeyValueStream. With kAllGather, one reduce-scatter sums the gradients at the end. Otherwise, the
// sums travel around the ring, one step later than the keys and values.
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

  // Returns a tensor to which the caller must add its gradients of the keys of step `step`.
  Tensor Begin(int64_t step) {
    if (all_.defined()) return all_[RankAt(step)];
    return torch::zeros(shape_, options_);
  }

  // Passes on `sum`: the tensor returned by Begin, including the caller's gradients.
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

  // Returns the sum of the gradients for this rank's own keys and values.
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
  Tensor all_;  // Indexed by rank. Undefined if the exchange is a ring.
  Tensor received_;
  Work work_;
};

// Returns a row for each token: the elements of the key heads, then those of the value heads.
Tensor KeyValues(const AttentionInputs& inputs) {
  return at::cat({inputs.key.flatten(2), inputs.value.flatten(2)}, 2);
}

// Divides the attention of this rank's queries into parts, one per rank that owns keys.
class Parts {
 public:
  Parts(const AttentionInputs& inputs, const ContextParallel& context, const AttentionForm& form)
      : inputs_(inputs), context_(context), form_(form) {}

  const Tensor& query() const { return inputs_.query; }
  // The number of query heads per key head.
  int64_t share() const { return inputs_.query.size(2) / inputs_.key.size(2); }
  int64_t most_score_bytes() const { return context_.most_score_bytes(); }
  VisibleTokens TokensOf(int64_t key_rank) const {
    return TokensVisibleTo(context_.index(), key_rank,
                           {context_.size(), query().size(1), form_.limits.window});
  }

  // KeysOf and ValuesOf return views of rows from KeyValues, as heads.
  Tensor KeysOf(const Tensor& rows) const {
    return HeadsLike(inputs_.key, rows.narrow(2, 0, KeyWidth()));
  }
  Tensor ValuesOf(const Tensor& rows) const {
    return HeadsLike(inputs_.value, rows.narrow(2, KeyWidth(), rows.size(2) - KeyWidth()));
  }

  // Returns views of the queries and keys that `tokens` selects. `key_value` contains the keys and
  // values of all tokens of rank `key_rank`.
  AttentionPart Part(int64_t key_rank, const VisibleTokens& tokens, const Tensor& key_value) const {
    const Tensor rows = key_value.narrow(1, tokens.first_key, tokens.keys);
    return {query().narrow(1, tokens.first_query, tokens.queries),
            KeysOf(rows),
            ValuesOf(rows),
            tokens.mask,
            HiddenKeysOf(key_rank, tokens),
            form_.kernel,
            inputs_.scale};
  }

  // Returns the attention to all keys if there is only one rank.
  AttentionPart Whole() const {
    const VisibleTokens tokens{0, query().size(1), 0, query().size(1), AttentionMask::kCausal};
    return {inputs_.query,           inputs_.key,  inputs_.value, tokens.mask,
            HiddenKeysOf(0, tokens), form_.kernel, inputs_.scale};
  }

 private:
  static Tensor HeadsLike(const Tensor& heads, const Tensor& rows) {
    return rows.view({rows.size(0), rows.size(1), heads.size(2), heads.size(3)});
  }
  int64_t KeyWidth() const { return inputs_.key.size(2) * inputs_.key.size(3); }
  // Undefined without limits.
  Tensor HiddenKeysOf(int64_t key_rank, const VisibleTokens& tokens) const;

  const AttentionInputs& inputs_;
  const ContextParallel& context_;
  const AttentionForm& form_;
};

Tensor Parts::HiddenKeysOf(int64_t key_rank, const VisibleTokens& tokens) const {
  if (!form_.limits.any()) return Tensor();
  const int64_t length = query().size(1) * context_.size();
  const auto positions = [&](int64_t rank, int64_t first, int64_t count) {
    return context_.PositionsOf(rank, length, query().device()).narrow(0, first, count);
  };
  AttentionLimits limits = form_.limits;
  if (limits.document_starts.defined()) {
    limits.document_starts = limits.document_starts.narrow(1, tokens.first_query, tokens.queries);
  }
  return HiddenKeys(positions(context_.index(), tokens.first_query, tokens.queries),
                    positions(key_rank, tokens.first_key, tokens.keys), limits);
}

AttentionPartGradients EmptyGradients(const AttentionPart& part) {
  const auto options = part.query.options();
  return {torch::empty(part.query.sizes(), options), torch::empty(part.key.sizes(), options),
          torch::empty(part.value.sizes(), options)};
}

// Returns a tensor for the result of a part. Its heads have the size of value heads.
Tensor EmptyResult(const AttentionPart& part) {
  const Tensor& query = part.query;
  return torch::empty({query.size(0), query.size(1), query.size(2), part.value.size(3)},
                      query.options());
}

// Queries of this rank and keys of rank `key_rank`, whose rows are in `key_value`.
struct SeenKeys {
  int64_t key_rank;
  VisibleTokens tokens;
  const Tensor& key_value;
};

struct BackwardInputs {
  const Tensor& dout;
  const ContextAttentionKept& kept;
  Reproducible reproducible;
};

// Sums of gradients, in the compute type: for the queries, and for rows of keys and values.
struct GradientSums {
  const Tensor& query;
  const Tensor& key_value;
};

// The tensors of one call of the backward pass. `sums` are the sums of the part's gradients.
struct BackwardCall {
  AttentionPart part;
  WholeAttention whole;
  AttentionPartGradients sums;
};

BackwardCall CallOf(const Parts& parts, const SeenKeys& seen, const BackwardInputs& inputs,
                    const GradientSums& sums) {
  const VisibleTokens& tokens = seen.tokens;
  const auto of_queries = [&](const Tensor& whole, int64_t axis) {
    return whole.narrow(axis, tokens.first_query, tokens.queries);
  };
  const Tensor rows = sums.key_value.narrow(1, tokens.first_key, tokens.keys);
  return {parts.Part(seen.key_rank, tokens, seen.key_value),
          {of_queries(inputs.dout, 1), of_queries(inputs.kept.out, 1),
           of_queries(inputs.kept.log_sum_exp, 2)},
          {of_queries(sums.query, 1), parts.KeysOf(rows), parts.ValuesOf(rows)}};
}

// Returns the samples and key heads of a piece in a call.
BackwardCall PieceOf(const BackwardCall& call, const IndexRange& samples,
                     const IndexRange& key_heads) {
  const int64_t all_key_heads = call.part.key.size(2);
  const auto in_piece = [&](const Tensor& all, int64_t axis) {
    const int64_t share = all.size(axis) / all_key_heads;
    return all.narrow(0, samples.first, samples.length)
        .narrow(axis, key_heads.first * share, key_heads.length * share);
  };
  BackwardCall piece = call;
  for (Tensor* heads : {&piece.part.query, &piece.part.key, &piece.part.value, &piece.whole.dout,
                        &piece.whole.out, &piece.sums.query, &piece.sums.key, &piece.sums.value}) {
    *heads = in_piece(*heads, 2);
  }
  piece.whole.log_sum_exp = in_piece(call.whole.log_sum_exp, 1).contiguous();
  const Tensor& hidden = call.part.hidden;
  if (hidden.defined() && hidden.size(0) > 1) {
    piece.part.hidden = hidden.narrow(0, samples.first, samples.length);
  }
  return piece;
}

void RunCall(const BackwardCall& call, Reproducible reproducible) {
  const AttentionPartGradients gradients = EmptyGradients(call.part);
  AttentionPartBackward(call.part, call.whole, reproducible, gradients);
  call.sums.query.add_(gradients.query);
  call.sums.key.add_(gradients.key);
  call.sums.value.add_(gradients.value);
}

// Adds the gradients to the sums. Divides the tokens, the samples and the heads so that each call
// has a workspace of bounded size (attention_pieces.h).
void AddGradients(const Parts& parts, const SeenKeys& seen, const BackwardInputs& inputs,
                  const GradientSums& sums) {
  const int64_t most = parts.most_score_bytes();
  const int64_t blocks = BlocksOfTokens(parts.query().size(1), parts.share(), most);
  for (const VisibleTokens& block : BlocksOf(seen.tokens, blocks)) {
    const BackwardCall call = CallOf(parts, {seen.key_rank, block, seen.key_value}, inputs, sums);
    const Tensor &query = call.part.query, &key = call.part.key;
    const AttentionPieces pieces = BackwardPiecesOf({.samples = query.size(0),
                                                     .query_length = query.size(1),
                                                     .key_length = key.size(1),
                                                     .query_heads = query.size(2),
                                                     .key_heads = key.size(2)},
                                                    most);
    for (int64_t sample = 0; sample < pieces.samples; ++sample) {
      for (int64_t head = 0; head < pieces.key_heads; ++head) {
        RunCall(PieceOf(call, PartOf(query.size(0), pieces.samples, sample),
                        PartOf(key.size(2), pieces.key_heads, head)),
                inputs.reproducible);
      }
    }
  }
}

ContextAttentionResult ForwardOfHeads(const AttentionInputs& inputs, const ContextParallel& context,
                                      const AttentionForm& form, const Tensor& out) {
  ExchangedAttentionForward pass(inputs, context, form, out);
  for (size_t part = 0; part < pass.parts().size(); ++part) pass.Send(part);
  pass.Compute();
  for (size_t part = 0; part < pass.parts().size(); ++part) pass.Receive(part);
  return pass.TakeResult();
}

}  // namespace

ContextAttentionResult ContextAttentionForward(const AttentionInputs& inputs,
                                               const ContextParallel& context,
                                               const AttentionForm& form, Tensor& out) {
  if (context.exchanges_heads()) return ForwardOfHeads(inputs, context, form, out);
  const Parts parts(inputs, context, form);
  if (context.size() == 1) return {AttentionPartForward(parts.Whole(), out), {}};
  KeyValueStream stream(context, KeyValues(inputs));
  Tensor sum, log_sum_exp;
  for (int64_t step = 0; step < context.size(); ++step) {
    const int64_t key_rank = stream.RankAt(step);
    const VisibleTokens tokens = parts.TokensOf(key_rank);
    const Tensor key_value = stream.At(step);
    if (tokens.queries == 0) continue;
    const AttentionPart part = parts.Part(key_rank, tokens, key_value);
    Tensor part_out = EmptyResult(part);
    const Tensor part_log_sum_exp = AttentionPartForward(part, part_out);
    if (step == 0) {  // Own tokens: each sees at least itself.
      sum = part_out.to(ComputeType(out.scalar_type()), /*non_blocking=*/false, /*copy=*/true);
      log_sum_exp = part_log_sum_exp;
      continue;
    }
    Tensor sum_part = sum.narrow(1, tokens.first_query, tokens.queries);
    Tensor log_part = log_sum_exp.narrow(2, tokens.first_query, tokens.queries);
    MergeAttention(sum_part, log_part, part_out, part_log_sum_exp);
  }
  out.copy_(sum);
  return {log_sum_exp, {}};
}

void ContextAttentionBackward(const Tensor& dout, const ContextAttentionKept& kept,
                              Reproducible reproducible, const ContextParallel& context,
                              const AttentionPartGradients& gradients) {
  if (context.exchanges_heads()) {
    ExchangedAttentionBackward pass(dout, kept, context);
    pass.Compute(reproducible);
    for (size_t part = 0; part < pass.parts().size(); ++part) pass.Receive(part, gradients);
    return;
  }
  const Parts parts(kept.inputs, context, kept.form);
  if (context.size() == 1) {
    return AttentionPartBackward(parts.Whole(), {dout, kept.out, kept.log_sum_exp}, reproducible,
                                 gradients);
  }
  const Tensor own_key_value = KeyValues(kept.inputs);
  KeyValueStream stream(context, own_key_value);
  KeyValueGradients key_value_gradients(context, own_key_value);
  const Tensor d_query =
      torch::zeros(parts.query().sizes(), dout.options().dtype(ComputeType(dout.scalar_type())));
  for (int64_t step = 0; step < context.size(); ++step) {
    const int64_t key_rank = stream.RankAt(step);
    const VisibleTokens tokens = parts.TokensOf(key_rank);
    const Tensor key_value = stream.At(step);
    Tensor d_key_value = key_value_gradients.Begin(step);
    if (tokens.queries > 0) {
      AddGradients(parts, {key_rank, tokens, key_value}, {dout, kept, reproducible},
                   {d_query, d_key_value});
    }
    key_value_gradients.End(step, std::move(d_key_value));
  }
  gradients.query.copy_(d_query);
  const Tensor d_key_value = key_value_gradients.Finish();
  gradients.key.copy_(parts.KeysOf(d_key_value));
  gradients.value.copy_(parts.ValuesOf(d_key_value));
}

}  // namespace trainyard::trainer
