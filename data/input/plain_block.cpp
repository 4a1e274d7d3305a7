#include "data/input/plain_block.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
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
        return limits_.cuts.find ? LoadTextBetweenCuts() : LoadText();
      case InputKind::kJsonLines:
        return LoadLines();
      case InputKind::kParquet:
        break;  // ParquetColumn reads these files
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
    if (block_.range_begin > 0) DropFront(BeginOfText());
    // The next block begins after the first line end at or after the last byte of this range. The
    // end of the file also ends a line.
    const size_t last = static_cast<size_t>(block_.range_end - 1 - block_.offset);
    size_t searched = last;
    while (!block_.ends_file) {
      const size_t line_end = bytes_.find('\n', searched);
      if (line_end != std::string::npos && line_end < last + limits_.block_bytes) {
        bytes_.resize(line_end + 1);
        return absl::OkStatus();
      }
      if (bytes_.size() >= last + limits_.block_bytes || AtEndOfFile()) break;
      searched = bytes_.size();
      TRAINYARD_RETURN_IF_ERROR(ReadMore(kFirstStep));
    }
    const bool last_line_ends_file = AtEndOfFile() && bytes_.size() <= last + limits_.block_bytes;
    if (block_.ends_file || last_line_ends_file) return absl::OkStatus();
    bytes_.resize(CharacterBoundary(bytes_, last + 1));
    return absl::OkStatus();
  }

  absl::Status LoadTextBetweenCuts() {
    const auto context = static_cast<int64_t>(limits_.cuts.context);
    block_.offset = std::max<int64_t>(block_.range_begin - context, 0);
    TRAINYARD_RETURN_IF_ERROR(
        ReadMore(static_cast<size_t>(block_.range_end + context - block_.offset)));
    const auto range_end = static_cast<size_t>(block_.range_end - block_.offset);
    size_t begin = 0;
    if (block_.range_begin > 0) {
      begin = limits_.cuts.find(bytes_, static_cast<size_t>(block_.range_begin - block_.offset),
                                range_end);
      if (begin == std::string::npos) begin = range_end;  // the text belongs to an earlier block
    }
    size_t end = begin;
    if (begin < range_end) {
      TRAINYARD_ASSIGN_OR_RETURN(end, CutBehind(begin, range_end));
    }
    bytes_.resize(end);
    DropFront(begin);
    return absl::OkStatus();
  }

  // Returns the first cut at or behind the end of the range, or the end of the file.
  absl::StatusOr<size_t> CutBehind(size_t begin, size_t range_end) {
    size_t searched = range_end;
    for (size_t step = kFirstStep; !block_.ends_file; step = std::min(2 * step, kLastStep)) {
      // A position without context behind it is searched when more has been read.
      const size_t last = AtEndOfFile() ? bytes_.size() : bytes_.size() - limits_.cuts.context;
      const size_t cut = limits_.cuts.find(bytes_, searched, last);
      if (cut != std::string::npos) return cut;
      if (AtEndOfFile()) break;
      searched = last;
      if (bytes_.size() - begin > limits_.document_bytes_max)
        return TooLongWithoutCut(*block_.file);
      TRAINYARD_RETURN_IF_ERROR(ReadMore(step));
    }
    return bytes_.size();
  }

  // Returns the position in `bytes_` at which the block of this range begins. Must agree with the
  // end of the previous block.
  size_t BeginOfText() const {
    const size_t line_end = bytes_.find('\n');
    if (line_end < limits_.block_bytes) return line_end + 1;
    if (block_.ends_file && bytes_.size() <= limits_.block_bytes) return bytes_.size();
    return CharacterBoundary(bytes_, 1);
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
