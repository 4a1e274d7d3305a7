#include "data/input/block_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "data/input/plain_block.h"
#include "data/input/text_bounds.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {

absl::StatusOr<bool> BlockReader::Next(RawBlock* block) {
  if (file_ == files_.size()) return false;
  *block = RawBlock();
  block->file = &files_[file_];
  block->range_begin = position_;
  if (block->file->kind == InputKind::kParquet) {
    TRAINYARD_RETURN_IF_ERROR(NextOfParquet(block));
  } else if (block->file->compression == Compression::kNone) {
    NextOfPlainFile(block);
  } else {
    TRAINYARD_RETURN_IF_ERROR(NextOfStream(block));
  }
  position_ = block->range_end;
  if (block->ends_file) {
    stream_.reset();
    column_.reset();
    position_ = 0;
    ++file_;
  }
  return true;
}

absl::Status BlockReader::NextOfStream(RawBlock* block) {
  block->begins_file = stream_ == nullptr;
  if (stream_ == nullptr) {
    TRAINYARD_ASSIGN_OR_RETURN(stream_, StreamReader::Open(*block->file, limits_));
  }
  TRAINYARD_RETURN_IF_ERROR(stream_->Next(block));
  block->range_end = stream_->position();
  block->loaded = true;
  return RefuseUtf16(*block);
}

absl::Status BlockReader::NextOfParquet(RawBlock* block) {
  block->begins_file = column_ == nullptr;
  if (column_ == nullptr) {
    TRAINYARD_ASSIGN_OR_RETURN(
        column_, ParquetColumn::Open(*block->file, limits_.field, {0, block->file->bytes}));
  }
  return column_->NextBlock(block);
}

void BlockReader::NextOfPlainFile(RawBlock* block) {
  block->begins_file = position_ == 0;
  const int64_t bytes = block->file->bytes;
  block->range_end = block->file->kind == InputKind::kPod
                         ? bytes
                         : std::min(bytes, position_ + static_cast<int64_t>(limits_.block_bytes));
  block->ends_file = block->range_end == bytes;
}

absl::Status LoadBlock(RawBlock* block, const ReadLimits& limits) {
  if (block->loaded) return absl::OkStatus();
  if (block->page != nullptr) return LoadPage(block);
  TRAINYARD_RETURN_IF_ERROR(LoadPlainBlock(block, limits));
  block->loaded = true;
  return RefuseUtf16(*block);
}

}  // namespace trainyard::data
