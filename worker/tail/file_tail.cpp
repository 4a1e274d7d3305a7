#include "worker/tail/file_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/files/unique_fd.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

struct OpenTail {
  UniqueFd fd;
  int64_t size = 0;
};

absl::StatusOr<std::optional<OpenTail>> OpenAt(const GuardedPath& path, int64_t offset) {
  absl::StatusOr<UniqueFd> fd = OpenGuarded(path, O_RDONLY);
  if (!fd.ok() && !absl::IsNotFound(fd.status())) return fd.status();
  struct stat info = {};
  if (fd.ok() && fstat(fd->get(), &info) != 0) {
    return ErrnoStatus(errno, "cannot stat", path.text());
  }
  OpenTail tail = {.fd = std::move(fd).value_or(UniqueFd()), .size = info.st_size};
  if (offset < 0 || offset > tail.size) {
    return absl::OutOfRangeError(
        absl::StrCat(path.text(), " has ", tail.size, " bytes, but ", offset,
                     " were read before, so the file was truncated or replaced"));
  }
  if (!tail.fd.valid()) return std::nullopt;
  return tail;
}

absl::StatusOr<std::string> ReadAt(const OpenTail& tail, const GuardedPath& path, int64_t offset,
                                   std::size_t bytes) {
  std::string data(std::min<std::size_t>(bytes, static_cast<std::size_t>(tail.size - offset)),
                   '\0');
  std::size_t done = 0;
  while (done < data.size()) {
    const ssize_t count = pread(tail.fd.get(), data.data() + done, data.size() - done,
                                offset + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "cannot read", path.text());
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  data.resize(done);
  return data;
}

// Cuts bytes into lines. The byte before `text` shows whether the read begins inside a long line,
// so the result does not depend on where earlier reads ended.
class LineCutter {
 public:
  // `at_end` is true if `text` reaches the end of the file.
  LineCutter(std::string_view text, const LineReadOptions& options, bool at_end)
      : text_(text), options_(options), final_(options.ended && at_end) {}

  TailLines Cut(int64_t offset, bool inside_line) {
    lines_.begin_offset = offset;
    if (inside_line && options_.long_lines == LongLines::kSkip) SkipRest();
    while (!text_.empty() && CutOne()) {
    }
    lines_.end_offset = offset + static_cast<int64_t>(consumed_);
    return std::move(lines_);
  }

 private:
  // Cuts one line. Returns false if more bytes must be read first.
  bool CutOne() {
    const std::size_t newline = text_.find_first_of(options_.returns_end_lines ? "\r\n" : "\n");
    const std::size_t length = std::min(newline, text_.size());
    if (length > kMaxLineBytes) return CutLong();
    if (newline == std::string_view::npos && !final_) return false;
    Give(text_.substr(0, length));
    const bool has_two_bytes = text_.substr(length, 2) == "\r\n";
    Consume(std::min(length + (has_two_bytes ? 2 : 1), text_.size()));
    return true;
  }

  bool CutLong() {
    if (options_.long_lines == LongLines::kSkip) {
      ++lines_.bad_lines;
      SkipRest();
    } else {
      Give(text_.substr(0, kMaxLineBytes));
      Consume(kMaxLineBytes);
    }
    return true;
  }

  // Drops the rest of a line. If the line does not end in the bytes read so far, drops all of them.
  void SkipRest() {
    const std::size_t newline = text_.find('\n');
    Consume(newline == std::string_view::npos ? text_.size() : newline + 1);
  }

  void Give(std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines_.lines.emplace_back(line);
  }

  void Consume(std::size_t bytes) {
    text_.remove_prefix(bytes);
    consumed_ += bytes;
  }

  std::string_view text_;
  const LineReadOptions& options_;
  const bool final_;
  std::size_t consumed_ = 0;
  TailLines lines_;
};

}  // namespace

absl::StatusOr<TailBytes> ReadNewBytes(const GuardedPath& path, int64_t offset,
                                       std::size_t max_bytes) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::optional<OpenTail> tail, OpenAt(path, offset));
  TailBytes bytes;
  bytes.begin_offset = offset;
  if (tail.has_value()) {
    TRAINYARD_ASSIGN_OR_RETURN(bytes.data, ReadAt(*tail, path, offset, max_bytes));
  }
  return bytes;
}

absl::StatusOr<TailLines> ReadNewLines(const GuardedPath& path, int64_t offset,
                                       const LineReadOptions& options) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::optional<OpenTail> tail, OpenAt(path, offset));
  if (!tail.has_value() || tail->size == offset) return TailLines{offset, offset, {}, 0};
  // Always larger than the longest line, so that each read makes progress.
  std::size_t bytes = std::clamp(options.max_bytes, kMaxLineBytes + 1, kMaxReadBytes);
  const int64_t left = std::max<int64_t>(options.until_offset - offset, 0);
  bytes = std::min(bytes, static_cast<std::size_t>(left));
  const int64_t from = std::max<int64_t>(offset - 1, 0);
  TRAINYARD_ASSIGN_OR_RETURN(
      const std::string data,
      ReadAt(*tail, path, from, bytes + static_cast<std::size_t>(offset - from)));
  const std::string_view text =
      std::string_view(data).substr(static_cast<std::size_t>(offset - from));
  const bool inside_line = offset > 0 && data.front() != '\n';
  const bool at_end = from + static_cast<int64_t>(data.size()) == tail->size;
  return LineCutter(text, options, at_end).Cut(offset, inside_line);
}

}  // namespace trainyard::worker
