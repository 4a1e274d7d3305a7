#include "data/input/plain_block.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "data/input/system_error.h"
#include "data/input/text_bounds.h"
#include "proto/files/unique_fd.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Bytes read at first beyond the end of a range, to find the end of the last line.
constexpr size_t kFirstStep = 64 << 10;
// Limits the memory that is allocated beyond the end of a long line.
constexpr size_t kLastStep = 8 << 20;

// Reads the bytes of one block.
class PlainLoader {
 public:
  PlainLoader(RawBlock* block, const ReadLimits& limits)
      : block_(*block), limits_(limits), bytes_(block->bytes) {}

  absl::Status Load() {
    fd_.Reset(open(block_.file->path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd_.valid()) return SystemError("cannot open " + block_.file->path, errno);
    TRAINYARD_RETURN_IF_ERROR(CheckSize());
    switch (block_.file->kind) {
      case InputKind::kPod:
        return LoadPod();
      case InputKind::kText:
        return LoadText();
      case InputKind::kJsonLines:
        return LoadLines();
    }
    return absl::InternalError("unknown kind of file");
  }

 private:
  absl::Status CheckSize() const {
    struct stat status {};
    if (fstat(fd_.get(), &status) != 0) {
      return SystemError("cannot read " + block_.file->path, errno);
    }
    return status.st_size == block_.file->bytes ? absl::OkStatus() : Changed();
  }

  absl::Status Changed() const {
    return absl::DataLossError(block_.file->path +
                               ": its size changed during the run; wait until the file is "
                               "complete, then start again");
  }

  // Appends up to `count` bytes of the file to `bytes_`. Stops at the end of the file.
  absl::Status ReadMore(size_t count) {
    const int64_t position = block_.offset + static_cast<int64_t>(bytes_.size());
    const size_t before = bytes_.size();
    const size_t wanted =
        std::min<uint64_t>(count, static_cast<uint64_t>(block_.file->bytes - position));
    bytes_.reserve(before + wanted + kBlockPadding);
    bytes_.resize(before + wanted);
    for (size_t done = 0; done < wanted;) {
      const ssize_t got = pread(fd_.get(), bytes_.data() + before + done, wanted - done,
                                static_cast<off_t>(position) + static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return SystemError("cannot read " + block_.file->path, errno);
      if (got == 0) return Changed();
      done += static_cast<size_t>(got);
    }
    return absl::OkStatus();
  }

  bool AtEndOfFile() const {
    return block_.offset + static_cast<int64_t>(bytes_.size()) == block_.file->bytes;
  }

  // Reads the range and the byte before it, which shows whether a line begins with the range.
  absl::Status ReadRange() {
    block_.offset = std::max<int64_t>(block_.range_begin - 1, 0);
    return ReadMore(static_cast<size_t>(block_.range_end - block_.offset));
  }

  void DropFront(size_t count) {
    bytes_.erase(0, count);
    block_.offset += static_cast<int64_t>(count);
  }

  absl::Status LoadPod() {
    if (static_cast<uint64_t>(block_.file->bytes) > limits_.document_bytes_max) {
      return absl::DataLossError(block_.file->path +
                                 ": larger than 256 MiB; omit it from the inputs");
    }
    return ReadRange();
  }

  absl::Status LoadLines() {
    TRAINYARD_RETURN_IF_ERROR(ReadRange());
    if (block_.range_begin > 0) {
      const size_t line_end = bytes_.find('\n');
      DropFront(line_end == std::string::npos ? bytes_.size() : line_end + 1);
    }
    if (bytes_.empty() || bytes_.back() == '\n') return absl::OkStatus();
    return CompleteLastLine();
  }

  // Reads until the line that begins last in `bytes_` ends, or omits it if it is too long.
  absl::Status CompleteLastLine() {
    const size_t line_end = bytes_.rfind('\n');
    const size_t line_begin = line_end == std::string::npos ? 0 : line_end + 1;
    for (size_t step = kFirstStep; !AtEndOfFile(); step = std::min(2 * step, kLastStep)) {
      const size_t searched = bytes_.size();
      if (searched - line_begin > limits_.document_bytes_max) break;
      TRAINYARD_RETURN_IF_ERROR(ReadMore(step));
      const size_t end = bytes_.find('\n', searched);
      if (end == std::string::npos) continue;
      bytes_.resize(end + 1);
      break;
    }
    block_.omitted_line = bytes_.size() - line_begin > limits_.document_bytes_max;
    if (block_.omitted_line) bytes_.resize(line_begin);
    return absl::OkStatus();
  }

  absl::Status LoadText() {
    TRAINYARD_RETURN_IF_ERROR(ReadRange());
    if (block_.range_begin > 0) DropFront(FirstCut(0, block_.ends_file));
    if (block_.ends_file) return absl::OkStatus();
    // The next block begins at the cut that belongs to the last byte of this range.
    const size_t last = static_cast<size_t>(block_.range_end - 1 - block_.offset);
    size_t searched = last + 1;
    while (FirstWordEnd(bytes_, searched, last + limits_.block_bytes) == std::string::npos) {
      if (bytes_.size() >= last + limits_.block_bytes || AtEndOfFile()) break;
      searched = bytes_.size();
      TRAINYARD_RETURN_IF_ERROR(ReadMore(kFirstStep));
    }
    bytes_.resize(FirstCut(last, AtEndOfFile()));
    return absl::OkStatus();
  }

  // Returns the position of a cut, for the range that begins behind the byte `last`. It depends
  // only on the bytes in [last, last + block_bytes), so that the end of a block and the begin of
  // the next one agree. The order of preference: between a letter and a line end, after a line end,
  // at the end of the file, between two characters.
  size_t FirstCut(size_t last, bool has_end_of_file) const {
    const size_t end = last + limits_.block_bytes;
    const size_t word_end = FirstWordEnd(bytes_, last + 1, end);
    if (word_end != std::string::npos) return word_end;
    const size_t line_end = bytes_.find('\n', last);
    if (line_end < end) return line_end + 1;
    if (has_end_of_file && bytes_.size() <= end) return bytes_.size();
    return CharacterBoundary(bytes_, last + 1);
  }

  RawBlock& block_;
  const ReadLimits& limits_;
  std::string& bytes_;
  UniqueFd fd_;
};

}  // namespace

absl::Status LoadPlainBlock(RawBlock* block, const ReadLimits& limits) {
  return PlainLoader(block, limits).Load();
}

}  // namespace trainyard::data
