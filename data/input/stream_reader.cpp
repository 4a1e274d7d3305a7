#include "data/input/stream_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "data/input/text_bounds.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {

namespace {

absl::Status TooLong(const InputFile& file) {
  return file.kind == InputKind::kText
             ? TooLongWithoutCut(file)
             : absl::DataLossError(file.path + ": larger than 256 MiB; omit it from the inputs");
}

}  // namespace

absl::StatusOr<std::unique_ptr<StreamReader>> StreamReader::Open(const InputFile& file,
                                                                 const ReadLimits& limits) {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<Decompressor> source, Decompressor::Open(file));
  return std::unique_ptr<StreamReader>(new StreamReader(file, limits, std::move(source)));
}

absl::Status StreamReader::Next(RawBlock* block) {
  size_t searched = 0;  // bytes of `pending_` without a line end
  for (;;) {
    if (BeginsWithLongLine(searched)) return OmitLine(block);
    if (const size_t end = BlockEnd(searched); end > 0) {
      TakeBytes(end, block);
      return absl::OkStatus();
    }
    if (pending_.size() > limits_.document_bytes_max) return TooLong(file_);
    searched = pending_.size() < limits_.block_bytes ? 0 : pending_.size();
    TRAINYARD_ASSIGN_OR_RETURN(const bool more, ReadMore());
    if (more) continue;
    TakeBytes(pending_.size(), block);
    block->ends_file = true;
    return absl::OkStatus();
  }
}

absl::StatusOr<bool> StreamReader::ReadMore() {
  const size_t before = pending_.size();
  pending_.resize(before + limits_.block_bytes);
  const absl::StatusOr<size_t> got = source_->Read(pending_.data() + before, limits_.block_bytes);
  pending_.resize(before + (got.ok() ? *got : 0));
  if (!got.ok()) return got.status();
  return *got > 0;
}

bool StreamReader::BeginsWithLongLine(size_t searched) const {
  if (file_.kind != InputKind::kJsonLines || pending_.size() <= limits_.document_bytes_max) {
    return false;
  }
  const size_t line_end = pending_.find('\n', searched);
  return line_end == std::string::npos || line_end + 1 > limits_.document_bytes_max;
}

// Returns the length of the block at the start of `pending_`; 0 if more bytes must be read.
size_t StreamReader::BlockEnd(size_t searched) const {
  if (file_.kind == InputKind::kPod || pending_.size() < limits_.block_bytes) return 0;
  if (file_.kind == InputKind::kText && limits_.cuts.find) return NextCut(searched);
  const size_t line_end = std::string_view(pending_).substr(searched).rfind('\n');
  if (line_end != std::string_view::npos) return searched + line_end + 1;
  const bool may_cut = file_.kind == InputKind::kText && pending_.size() >= 2 * limits_.block_bytes;
  // The last character may be incomplete, so the cut is a whole character before the end.
  return may_cut ? CharacterBoundary(pending_, pending_.size() - 4) : 0;
}

// Returns the first cut that makes a block of block_bytes or more; 0 if more bytes must be read.
size_t StreamReader::NextCut(size_t searched) const {
  const size_t context = limits_.cuts.context;
  if (pending_.size() < limits_.block_bytes + context) return 0;
  // Positions at the end have not been searched, because they had no context behind them.
  const size_t begin = std::max(limits_.block_bytes, searched - std::min(searched, context));
  const size_t cut = limits_.cuts.find(pending_, begin, pending_.size() - context);
  return cut == std::string_view::npos ? 0 : cut;
}

// Omits the line at the start of `pending_`, which is longer than the limit.
absl::Status StreamReader::OmitLine(RawBlock* block) {
  TakeBytes(0, block);
  block->omitted_line = true;
  for (;;) {
    const size_t line_end = pending_.find('\n');
    const size_t omitted = line_end == std::string::npos ? pending_.size() : line_end + 1;
    offset_ += static_cast<int64_t>(omitted);
    pending_.erase(0, omitted);
    if (line_end != std::string::npos) return absl::OkStatus();
    TRAINYARD_ASSIGN_OR_RETURN(const bool more, ReadMore());
    if (more) continue;
    block->ends_file = true;
    return absl::OkStatus();
  }
}

void StreamReader::TakeBytes(size_t count, RawBlock* block) {
  block->offset = offset_;
  block->bytes.reserve(count + kBlockPadding);
  block->bytes.assign(pending_, 0, count);
  pending_.erase(0, count);
  offset_ += static_cast<int64_t>(count);
}

}  // namespace trainyard::data
