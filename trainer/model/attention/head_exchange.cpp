#include "trainer/model/attention/head_exchange.h"

#include <utility>

#include "trainer/ops/attention/head_copy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns the rows of the tokens of `rank`.
Tensor RowsOfRank(const Tensor& whole, int64_t rank, const ContextParallel& context) {
  const int64_t tokens = whole.size(0) / context.size();
  return whole.narrow(0, rank * tokens, tokens);
}

// Begins to send `rows` to the other of two ranks. Sets `received` to the rows that come from it.
Work BeginSwap(const Tensor& rows, const ContextParallel& context, Tensor& received) {
  std::vector<int64_t> shape = rows.sizes().vec();
  shape.insert(shape.begin(), context.size());
  const Tensor both = context.group().EmptyForGather(shape, rows.options());
  received = both[1 - context.index()];
  return context.group().AllGather(both, rows, OwnPart::kUndefined);
}

void AddCopies(const std::vector<Tensor>& from, const std::vector<Tensor>& to,
               std::vector<HeadCopy>& copies) {
  for (size_t i = 0; i < from.size(); ++i) copies.push_back({from[i], to[i]});
}

}  // namespace

std::vector<Tensor> TokenHeads::Of(int64_t rank, const HeadPiece& piece) const {
  std::vector<Tensor> heads;
  for (const Tensor& tensor : tensors_) {
    const int64_t share = HeadsPerKeyHead(tensor);
    heads.push_back(tensor.narrow(0, piece.samples.first, piece.samples.length)
                        .narrow(2, (rank * key_heads_ + piece.key_heads.first) * share,
                                piece.key_heads.length * share));
  }
  return heads;
}

int64_t TokenHeads::WidthIn(const HeadPiece& piece) const {
  int64_t width = 0;
  for (const Tensor& tensor : tensors_) {
    width += piece.key_heads.length * HeadsPerKeyHead(tensor) * tensor.size(3);
  }
  return width;
}

std::vector<Tensor> HeadsInRows(const Tensor& rows, const std::vector<Tensor>& like) {
  std::vector<Tensor> heads;
  int64_t first = 0;
  for (const Tensor& tensor : like) {
    const int64_t width = tensor.size(2) * tensor.size(3);
    heads.push_back(rows.narrow(2, first, width)
                        .view({rows.size(0), rows.size(1), tensor.size(2), tensor.size(3)})
                        .transpose(0, 1));
    first += width;
  }
  return heads;
}

PendingHeads::PendingHeads(const TokenHeads& tokens, const HeadPiece& piece,
                           const ContextParallel& context, const Tensor& whole) {
  std::vector<HeadCopy> copies;
  std::vector<Tensor> sent(context.size());
  for (int64_t rank = 0; rank < context.size(); ++rank) {
    Tensor rows = RowsOfRank(whole, rank, context);
    if (rank != context.index()) rows = sent[rank] = torch::empty_like(rows);
    const std::vector<Tensor> heads = tokens.Of(rank, piece);
    AddCopies(heads, HeadsInRows(rows, heads), copies);
  }
  CopyHeads(copies);
  if (context.size() == 2) {
    const int64_t other = 1 - context.index();
    place_ = RowsOfRank(whole, other, context);
    work_ = BeginSwap(sent[other], context, received_);
    return;
  }
  std::vector<Transfer> transfers;
  for (int64_t rank = 0; rank < context.size(); ++rank) {
    if (rank == context.index()) continue;
    transfers.push_back({Transfer::Direction::kSend, rank, sent[rank]});
    transfers.push_back({Transfer::Direction::kReceive, rank, RowsOfRank(whole, rank, context)});
  }
  work_ = context.group().Exchange(std::move(transfers));
}

void PendingHeads::Wait() {
  work_.Wait();
  if (!received_.defined()) return;
  place_.copy_(received_);
  received_ = place_ = Tensor();
}

PendingTokens::PendingTokens(const ContextParallel& context, const HeadPiece& piece, Tensor whole)
    : context_(context), piece_(piece), whole_(std::move(whole)), received_(context.size()) {
  if (context.size() == 2) {
    const int64_t other = 1 - context.index();
    work_ = BeginSwap(RowsOfRank(whole_, other, context), context, received_[other]);
    return;
  }
  std::vector<Transfer> transfers;
  for (int64_t rank = 0; rank < context.size(); ++rank) {
    if (rank == context.index()) continue;
    received_[rank] = torch::empty_like(RowsOfRank(whole_, rank, context));
    transfers.push_back({Transfer::Direction::kSend, rank, RowsOfRank(whole_, rank, context)});
    transfers.push_back({Transfer::Direction::kReceive, rank, received_[rank]});
  }
  work_ = context.group().Exchange(std::move(transfers));
}

void PendingTokens::Get(const TokenHeads& tokens) {
  work_.Wait();
  std::vector<HeadCopy> copies;
  for (int64_t rank = 0; rank < context_.size(); ++rank) {
    const Tensor rows =
        rank == context_.index() ? RowsOfRank(whole_, rank, context_) : received_[rank];
    const std::vector<Tensor> heads = tokens.Of(rank, piece_);
    AddCopies(HeadsInRows(rows, heads), heads, copies);
  }
  CopyHeads(copies);
  whole_ = Tensor();
  received_.clear();
}

}  // namespace trainyard::trainer
