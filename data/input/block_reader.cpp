#include "data/input/block_reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "data/input/system_error.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
// Plain text without line ends is cut at this size. JSON lines and .pod files must not be cut, so
// only kBytesMax limits them.
constexpr size_t kTextBytesMax = 2 * kBlockBytes;
constexpr size_t kBytesMax = size_t{256} << 20;

// Returns the length of the longest prefix of `text` that ends between two UTF-8 characters.
size_t CharacterBoundary(const std::string& text) {
  size_t end = text.size();
  for (int back = 0; back < 4 && end > 0; ++back) {
    const unsigned char last = static_cast<unsigned char>(text[--end]);
    if (last < 0x80) return end + 1;
    if (last >= 0xC0) return end;  // the sequence may be incomplete: leave it for the next block
  }
  return text.size();  // not UTF-8: the decoder reports the position
}

// Returns the length of the block at the start of the buffer; 0 if more bytes must be read.
size_t BlockEnd(const std::string& buffer, InputKind kind) {
  if (kind == InputKind::kPod || buffer.size() < kBlockBytes) return 0;
  const size_t line_end = buffer.rfind('\n');
  if (line_end != std::string::npos) return line_end + 1;
  const bool may_cut = kind == InputKind::kText && buffer.size() >= kTextBytesMax;
  return may_cut ? CharacterBoundary(buffer) : 0;
}

}  // namespace

BlockReader::~BlockReader() {
  if (open_ != nullptr) std::fclose(open_);
}

absl::Status BlockReader::Open() {
  const InputFile& file = files_[next_file_];
  open_ = std::fopen(file.path.c_str(), "rbe");
  if (open_ == nullptr) return SystemError("cannot open " + file.path, errno);
  ++next_file_;
  carry_.clear();
  offset_ = 0;
  line_ = 1;
  return absl::OkStatus();
}

absl::StatusOr<bool> BlockReader::Next(RawBlock* block) {
  if (open_ == nullptr) {
    if (next_file_ == files_.size()) return false;
    TRAINYARD_RETURN_IF_ERROR(Open());
  }
  block->file = &files_[next_file_ - 1];
  block->offset = offset_;
  block->first_line = line_;
  block->begins_file = offset_ == 0;
  TRAINYARD_RETURN_IF_ERROR(Fill(block));
  offset_ += static_cast<int64_t>(block->bytes.size());
  line_ += std::count(block->bytes.begin(), block->bytes.end(), '\n');
  if (block->ends_file) {
    std::fclose(open_);
    open_ = nullptr;
  }
  return true;
}

absl::Status BlockReader::Fill(RawBlock* block) {
  const InputKind kind = block->file->kind;
  block->ends_file = false;
  for (;;) {
    const size_t end = BlockEnd(carry_, kind);
    if (end > 0) {
      block->bytes = carry_.substr(0, end);
      carry_.erase(0, end);
      return absl::OkStatus();
    }
    if (carry_.size() > kBytesMax) {
      return absl::DataLossError(
          block->file->path + ": " +
          (kind == InputKind::kPod ? "larger than 256 MiB"
                                   : "line " + std::to_string(line_) + " is longer than 256 MiB"));
    }
    TRAINYARD_ASSIGN_OR_RETURN(const bool more, ReadMore(block));
    if (more) continue;
    block->bytes = std::exchange(carry_, {});
    block->ends_file = true;
    return absl::OkStatus();
  }
}

absl::StatusOr<bool> BlockReader::ReadMore(RawBlock* block) {
  const size_t before = carry_.size();
  carry_.resize(before + kBlockBytes);
  const size_t got = std::fread(carry_.data() + before, 1, kBlockBytes, open_);
  carry_.resize(before + got);
  if (got == 0 && std::ferror(open_) != 0) {
    return SystemError("cannot read " + block->file->path, errno);
  }
  return got > 0;
}

}  // namespace trainyard::data
