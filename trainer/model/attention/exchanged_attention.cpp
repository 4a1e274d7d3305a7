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

AttentionPieces CountsOf(const AttentionInputs& inputs, const ContextParallel& context) {
  const int64_t length = LengthOfSample(inputs, context);
  return ExchangePiecesOf({.samples = inputs.query.size(0),
                           .query_length = length,
                           .key_length = length,
                           .query_heads = inputs.query.size(2) / context.size(),
                           .key_heads = KeyHeadsOfRank(inputs, context)});
}

std::vector<IndexRange> Divide(int64_t total, int64_t count) {
  std::vector<IndexRange> ranges;
  for (int64_t i = 0; i < count; ++i) ranges.push_back(PartOf(total, count, i));
  return ranges;
}

std::vector<IndexRange> SamplePartsOf(const AttentionInputs& inputs,
                                      const ContextParallel& context) {
  return Divide(inputs.query.size(0), CountsOf(inputs, context).samples);
}

// Returns the pieces of all parts, part after part.
std::vector<HeadPiece> HeadPiecesOf(const AttentionInputs& inputs, const ContextParallel& context) {
  std::vector<HeadPiece> pieces;
  for (const IndexRange& samples : SamplePartsOf(inputs, context)) {
    for (const IndexRange& heads :
         Divide(KeyHeadsOfRank(inputs, context), CountsOf(inputs, context).key_heads)) {
      pieces.push_back({samples, heads});
    }
  }
  return pieces;
}

// Returns the pieces of a part. Every part has equally many.
IndexRange PiecesOfPart(size_t part, size_t parts, size_t pieces) {
  return PartOf(static_cast<int64_t>(pieces), static_cast<int64_t>(parts),
                static_cast<int64_t>(part));
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

  PendingHeads Begin(size_t piece, const Tensor& whole) const {
    return {tokens, pieces[piece], context, rows.Of(piece, whole)};
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

ExchangedAttentionForward::ExchangedAttentionForward(const AttentionInputs& inputs,
                                                     const ContextParallel& context,
                                                     const AttentionForm& form, const Tensor& out)
    : inputs_(inputs),
      context_(context),
      form_(form),
      out_(out),
      parts_(SamplePartsOf(inputs, context)),
      pieces_(HeadPiecesOf(inputs, context)) {
  const ExchangedHeads heads(TensorsOf(inputs_), inputs_, context_, pieces_);
  const ExchangedHeads outs({out_}, inputs_, context_, pieces_);
  result_ = {NewLogSumExp(inputs_, context_),
             {heads.rows.Allocate(out.options()), outs.rows.Allocate(out.options())}};
}

void ExchangedAttentionForward::Send(size_t part) {
  const ExchangedHeads heads(TensorsOf(inputs_), inputs_, context_, pieces_);
  const IndexRange pieces = PiecesOfPart(part, parts_.size(), pieces_.size());
  for (int64_t i = pieces.first; i < pieces.end(); ++i) {
    arriving_.push_back(heads.Begin(i, result_.whole.heads));
  }
}

void ExchangedAttentionForward::Compute() {
  const ExchangedHeads heads(TensorsOf(inputs_), inputs_, context_, pieces_);
  const ExchangedHeads outs({out_}, inputs_, context_, pieces_);
  for (size_t i = 0; i < pieces_.size(); ++i) {
    arriving_[i].Wait();
    Tensor out = outs.HeadsOf(i, result_.whole.out).front();
    const Tensor log_sum_exp = AttentionPartForward(
        PartOfPiece(heads.HeadsOf(i, result_.whole.heads), pieces_[i], form_, inputs_.scale), out);
    LogSumExpOf(result_.log_sum_exp, pieces_[i], QueryHeadsPerKeyHead(inputs_)).copy_(log_sum_exp);
    leaving_.emplace_back(context_, pieces_[i], outs.rows.Of(i, result_.whole.out));
  }
}

void ExchangedAttentionForward::Receive(size_t part) {
  const ExchangedHeads outs({out_}, inputs_, context_, pieces_);
  const IndexRange pieces = PiecesOfPart(part, parts_.size(), pieces_.size());
  for (int64_t i = pieces.first; i < pieces.end(); ++i) leaving_[i].Get(outs.tokens);
}

ExchangedAttentionBackward::ExchangedAttentionBackward(const Tensor& dout,
                                                       const ContextAttentionKept& kept,
                                                       const ContextParallel& context)
    : kept_(kept),
      context_(context),
      parts_(SamplePartsOf(kept.inputs, context)),
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

void ExchangedAttentionBackward::Compute(Reproducible reproducible) {
  const AttentionInputs& inputs = kept_.inputs;
  const ExchangedHeads heads(TensorsOf(inputs), inputs, context_, pieces_);
  const ExchangedHeads outs({kept_.out}, inputs, context_, pieces_);
  const size_t exchanges = arriving_.size() / pieces_.size();  // Per piece.
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
    leaving_.emplace_back(context_, pieces_[i], d_rows);
  }
  dout_ = Tensor();
  whole_ = {};
}

void ExchangedAttentionBackward::Receive(size_t part, const AttentionPartGradients& gradients) {
  const TokenHeads tokens({gradients.query, gradients.key, gradients.value}, context_.size(),
                          KeyHeadsOfRank(kept_.inputs, context_));
  const IndexRange pieces = PiecesOfPart(part, parts_.size(), pieces_.size());
  for (int64_t i = pieces.first; i < pieces.end(); ++i) leaving_[i].Get(tokens);
}

}  // namespace trainyard::trainer
