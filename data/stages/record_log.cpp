#include "data/stages/record_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "data/stages/file_status.h"
#include "proto/files/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::Status Failed(const char* action, const std::string& path) {
  return ToStatus(FileError{errno, std::string("cannot ") + action + " " + path});
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path) {
  std::string text;
  std::string piece(size_t{1} << 20, '\0');
  for (;;) {
    const ssize_t got = read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("read", path);
    if (got == 0) return text;
    text.append(piece, 0, static_cast<size_t>(got));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordLog>> RecordLog::Open(const std::string& path,
                                                           const std::string& plan_hash,
                                                           std::vector<BlockRecord>* records) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) return Failed("open", path);
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, ReadAll(fd.get(), path));
  size_t end = 0;
  for (;;) {
    const size_t line_end = text.find('\n', end);
    if (line_end == std::string::npos) break;
    const std::string_view line = std::string_view(text).substr(end, line_end - end);
    std::optional<BlockRecord> record = ParseRecord(line, plan_hash);
    if (!record) break;
    records->push_back(*std::move(record));
    end = line_end + 1;
  }
  if (end < text.size() && ftruncate(fd.get(), static_cast<off_t>(end)) != 0) {
    return Failed("truncate", path);
  }
  return std::unique_ptr<RecordLog>(new RecordLog(path, plan_hash, std::move(fd)));
}

absl::Status RecordLog::Append(const BlockRecord& record) {
  TRAINYARD_RETURN_IF_ERROR(ToStatus(WriteAll(fd_.get(), RecordLine(record, plan_hash_), path_)));
  return fdatasync(fd_.get()) == 0 ? absl::OkStatus() : Failed("sync", path_);
}

}  // namespace trainyard::data
