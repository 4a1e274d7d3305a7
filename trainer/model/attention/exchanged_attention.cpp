#include "trainer/model/attention/exchanged_attention.h"

#include <utility>

#include "proto/layout/layout_parts.h"
#include "proto/rules/attention_pieces.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

std::vector<Tensor> TensorsOf(const AttentionInputs& inputs) {
  return {inputs.query, inputs.key, inputs.value};
}

int64_t KeyHeadsOfRank(const AttentionInputs& inputs, const ContextParallel& context) {
  return inputs.key.size(2) / context.size();
}

int64_t LengthOfSample(const AttentionInputs& inputs, const ContextParallel& context) {
  return inputs.query.size(1) * context.size();
}

std::vector<HeadPiece> HeadPiecesOf(const AttentionInputs& inputs, const ContextParallel& context) {
  const int64_t samples = inputs.query.size(0), key_heads = KeyHeadsOfRank(inputs, context);
  const int64_t length = LengthOfSample(inputs, context);
  const AttentionPieces parts =
      ExchangePiecesOf({.samples = samples,
                        .query_length = length,
                        .key_length = length,
                        .query_heads = inputs.query.size(2) / context.size(),
                        .key_heads = key_heads});
  std::vector<HeadPiece> pieces;
  for (int64_t sample = 0; sample < parts.samples; ++sample) {
    for (int64_t head = 0; head < parts.key_heads; ++head) {
      pieces.push_back(
          {PartOf(samples, parts.samples, sample), PartOf(key_heads, parts.key_heads, head)});
    }
  }
  return pieces;
}

// A tensor that has the rows of all pieces, one piece after the other. The rows of a piece are
// contiguous, [tokens of a sample, samples, width].
class RowsOfPieces {
 public:
  RowsOfPieces(const TokenHeads& tokens, const std::vector<HeadPiece>& pieces, int64_t length)
      : length_(length) {
    for (const HeadPiece& piece : pieces) {
      sizes_.push_back({piece.samples.length, tokens.WidthIn(piece)});
    }
  }

  Tensor Allocate(const torch::TensorOptions& options) const {
    int64_t elements = 0;
    for (const Size& size : sizes_) elements += Elements(size);
    return torch::empty({elements}, options);
  }

  Tensor Of(size_t piece, const Tensor& all) const {
    int64_t first = 0;
    for (size_t before = 0; before < piece; ++before) first += Elements(sizes_[before]);
    const Size& size = sizes_[piece];
    return all.narrow(0, first, Elements(size)).view({length_, size.samples, size.width});
  }

 private:
  struct Size {
    int64_t samples = 0;
    int64_t width = 0;
  };

  int64_t Elements(const Size& size) const { return length_ * size.samples * size.width; }

  int64_t length_ = 0;
  std::vector<Size> sizes_;
};

// Tensors of this rank's tokens whose heads are exchanged, piece by piece.
struct ExchangedHeads {
  ExchangedHeads(std::vector<Tensor> tensors, const AttentionInputs& inputs,
                 const ContextParallel& ranks, const std::vector<HeadPiece>& all_pieces)
      : tokens(std::move(tensors), ranks.size(), KeyHeadsOfRank(inputs, ranks)),
        pieces(all_pieces),
        rows(tokens, pieces, LengthOfSample(inputs, ranks)),
        context(ranks) {}

  Work Begin(size_t piece, const Tensor& whole) const {
    return BeginToHeads(tokens, pieces[piece], context, rows.Of(piece, whole));
  }
  // Returns the heads of a piece in `whole`, [samples, tokens of a sample, heads, head size].
  std::vector<Tensor> HeadsOf(size_t piece, const Tensor& whole) const {
    return HeadsInRows(rows.Of(piece, whole), tokens.Of(0, pieces[piece]));
  }

  TokenHeads tokens;
  const std::vector<HeadPiece>& pieces;
  RowsOfPieces rows;
  const ContextParallel& context;
};

// `heads`: queries, keys and values.
AttentionPart PartOfPiece(const std::vector<Tensor>& heads, const HeadPiece& piece,
                          const AttentionForm& form, double scale) {
  Tensor hidden;
  if (form.limits.any()) {
    AttentionLimits limits = form.limits;
    if (limits.document_starts.defined()) {
      limits.document_starts =
          limits.document_starts.narrow(0, piece.samples.first, piece.samples.length);
    }
    hidden = HiddenKeys(heads[0].size(1), limits, heads[0].device());
  }
  return {heads[0], heads[1], heads[2], AttentionMask::kCausal, hidden, form.kernel, scale};
}

// Returns the values of a piece in the log-sum-exp of all pieces. `query_heads` is the number of
// query heads per key head.
Tensor LogSumExpOf(const Tensor& all, const HeadPiece& piece, int64_t query_heads) {
  return all.narrow(0, piece.samples.first, piece.samples.length)
      .narrow(1, piece.key_heads.first * query_heads, piece.key_heads.length * query_heads);
}

int64_t QueryHeadsPerKeyHead(const AttentionInputs& inputs) {
  return inputs.query.size(2) / inputs.key.size(2);
}

Tensor NewLogSumExp(const AttentionInputs& inputs, const ContextParallel& context) {
  const Tensor& query = inputs.query;
  return torch::empty(
      {query.size(0), query.size(2) / context.size(), LengthOfSample(inputs, context)},
      query.options().dtype(ComputeType(query.scalar_type())));
}

}  // namespace

ContextAttentionResult ExchangedAttentionForward(const AttentionInputs& inputs,
                                                 const ContextParallel& context,
                                                 const AttentionForm& form, Tensor& out) {
  const std::vector<HeadPiece> pieces = HeadPiecesOf(inputs, context);
  const ExchangedHeads heads(TensorsOf(inputs), inputs, context, pieces);
  const ExchangedHeads outs({out}, inputs, context, pieces);
  const WholeSamples whole{heads.rows.Allocate(out.options()), outs.rows.Allocate(out.options())};
  std::vector<Work> arriving;
  for (size_t i = 0; i < pieces.size(); ++i) arriving.push_back(heads.Begin(i, whole.heads));
  const Tensor log_sum_exp = NewLogSumExp(inputs, context);
  std::vector<PendingTokens> leaving;
  for (size_t i = 0; i < pieces.size(); ++i) {
    arriving[i].Wait();
    Tensor piece_out = outs.HeadsOf(i, whole.out).front();
    const Tensor piece_log_sum_exp = AttentionPartForward(
        PartOfPiece(heads.HeadsOf(i, whole.heads), pieces[i], form, inputs.scale), piece_out);
    LogSumExpOf(log_sum_exp, pieces[i], QueryHeadsPerKeyHead(inputs)).copy_(piece_log_sum_exp);
    leaving.emplace_back(context, pieces[i], outs.rows.Of(i, whole.out));
  }
  for (PendingTokens& tokens : leaving) tokens.Get(outs.tokens);
  return {log_sum_exp, whole};
}

ExchangedAttentionBackward::ExchangedAttentionBackward(const Tensor& dout,
                                                       const ContextAttentionKept& kept,
                                                       const ContextParallel& context)
    : kept_(kept),
      context_(context),
      pieces_(HeadPiecesOf(kept.inputs, context)),
      whole_(kept.whole) {
  const ExchangedHeads heads(TensorsOf(kept.inputs), kept.inputs, context, pieces_);
  const ExchangedHeads outs({kept.out}, kept.inputs, context, pieces_);
  const ExchangedHeads d_outs({dout}, kept.inputs, context, pieces_);
  const bool repeats = !whole_.heads.defined();
  dout_ = d_outs.rows.Allocate(dout.options());
  if (repeats) {
    whole_ = {heads.rows.Allocate(dout.options()), outs.rows.Allocate(dout.options())};
  }
  for (size_t i = 0; i < pieces_.size(); ++i) {
    arriving_.push_back(d_outs.Begin(i, dout_));
    if (!repeats) continue;
    arriving_.push_back(heads.Begin(i, whole_.heads));
    arriving_.push_back(outs.Begin(i, whole_.out));
  }
}

void ExchangedAttentionBackward::Finish(Reproducible reproducible,
                                        const AttentionPartGradients& gradients) {
  const AttentionInputs& inputs = kept_.inputs;
  const ExchangedHeads heads(TensorsOf(inputs), inputs, context_, pieces_);
  const ExchangedHeads outs({kept_.out}, inputs, context_, pieces_);
  const TokenHeads d_tokens({gradients.query, gradients.key, gradients.value}, context_.size(),
                            KeyHeadsOfRank(inputs, context_));
  const size_t exchanges = arriving_.size() / pieces_.size();  // Per piece.
  std::vector<PendingTokens> leaving;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    for (size_t j = 0; j < exchanges; ++j) arriving_[i * exchanges + j].Wait();
    const std::vector<Tensor> piece = heads.HeadsOf(i, whole_.heads);
    const Tensor d_rows = torch::empty_like(heads.rows.Of(i, whole_.heads));
    const std::vector<Tensor> d_heads = HeadsInRows(d_rows, heads.tokens.Of(0, pieces_[i]));
    AttentionPartBackward(
        PartOfPiece(piece, pieces_[i], kept_.form, inputs.scale),
        {outs.HeadsOf(i, dout_).front(), outs.HeadsOf(i, whole_.out).front(),
         LogSumExpOf(kept_.log_sum_exp, pieces_[i], QueryHeadsPerKeyHead(inputs)).contiguous()},
        reproducible, {d_heads[0], d_heads[1], d_heads[2]});
    leaving.emplace_back(context_, pieces_[i], d_rows);
  }
  dout_ = Tensor();
  whole_ = {};
  for (PendingTokens& tokens : leaving) tokens.Get(d_tokens);
}

}  // namespace trainyard::trainer
