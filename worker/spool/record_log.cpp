#include "worker/spool/record_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trainyard::worker {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kHeaderBytes = kLengthBytes + 8;
// Enough for a dozen or more records that contain the final output of a rank. A node with a full
// disk must be able to report ranks that it could not start.
constexpr int64_t kReservedBytes = 128 << 10;

void PutLittleEndian(uint64_t value, std::size_t bytes, std::string& out) {
  for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t GetLittleEndian(std::string_view text) {
  uint64_t value = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(text[i]);
  }
  return value;
}

// The checksum covers the length too. Otherwise a partly written length could be mistaken for the
// length of a short record.
uint64_t Checksum(std::string_view record) {
  return XXH64(record.data(), record.size(), record.size());
}

void AppendFramed(std::string_view record, std::string& out) {
  PutLittleEndian(record.size(), kLengthBytes, out);
  PutLittleEndian(Checksum(record), 8, out);
  out.append(record);
}

// Removes the first record from `text` and returns it. Returns nullopt if the record is incomplete
// or its checksum is wrong.
std::optional<std::string_view> TakeRecord(std::string_view& text) {
  if (text.size() < kHeaderBytes) return std::nullopt;
  const uint64_t length = GetLittleEndian(text.substr(0, kLengthBytes));
  if (length > kMaxRecordBytes || text.size() - kHeaderBytes < length) return std::nullopt;
  const std::string_view record = text.substr(kHeaderBytes, length);
  if (Checksum(record) != GetLittleEndian(text.substr(kLengthBytes, 8))) return std::nullopt;
  text.remove_prefix(kHeaderBytes + length);
  return record;
}

absl::Status WriteAll(int fd, std::string_view text, int64_t offset, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = pwrite(fd, text.data(), text.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, "cannot write", path);
    text.remove_prefix(written);
    offset += written;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path) {
  std::string text;
  char buffer[64 << 10];
  while (true) {
    const ssize_t count = pread(fd, buffer, sizeof(buffer), static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "cannot read", path);
    if (count == 0) return text;
    text.append(buffer, count);
  }
}

// Removes the damaged bytes at the front of `text`, up to the next intact record. Returns false if
// there is no such record.
bool SkipDamage(std::string_view& text) {
  for (std::size_t at = 1; at + kHeaderBytes <= text.size(); ++at) {
    std::string_view rest = text.substr(at);
    if (!TakeRecord(rest).has_value()) continue;
    text.remove_prefix(at);
    return true;
  }
  return false;
}

// Returns the first unused name for a damaged file.
std::string NameAside(const std::string& path) {
  std::string name = path + ".damaged";
  struct stat info {};
  for (int i = 2; lstat(name.c_str(), &info) == 0; ++i) name = absl::StrCat(path, ".damaged.", i);
  return name;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordLog>> RecordLog::Open(const std::string& path) {
  auto log = std::unique_ptr<RecordLog>(new RecordLog(path));
  TRAINYARD_RETURN_IF_ERROR(log->RenameIrregular());
  TRAINYARD_RETURN_IF_ERROR(log->OpenForAppend());
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, ReadAll(log->fd_.get(), path));
  std::string_view rest = text;
  std::vector<std::string>& records = log->records_at_open_;
  const auto take_whole = [&] {
    while (const auto record = TakeRecord(rest)) records.emplace_back(*record);
  };
  take_whole();
  const std::size_t sound_bytes = text.size() - rest.size();
  const std::size_t sound_records = records.size();
  while (SkipDamage(rest)) take_whole();
  if (records.size() > sound_records) {
    TRAINYARD_RETURN_IF_ERROR(log->ReplaceDamaged(static_cast<int64_t>(sound_bytes)));
    return log;
  }
  log->dropped_bytes_ = static_cast<int64_t>(rest.size());
  log->size_bytes_ = static_cast<int64_t>(sound_bytes);
  if (log->dropped_bytes_ > 0 && ftruncate(log->fd_.get(), log->size_bytes_) != 0) {
    return ErrnoStatus(errno, "cannot repair", path);
  }
  // A new file's name is durable only after its directory is synced.
  if (text.empty()) TRAINYARD_RETURN_IF_ERROR(SyncDirectoryOf(path));
  log->ReserveAhead();
  return log;
}

absl::Status RecordLog::RenameIrregular() {
  struct stat info {};
  if (lstat(path_.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return absl::OkStatus();
  const std::string aside = NameAside(path_);
  if (rename(path_.c_str(), aside.c_str()) != 0) {
    return ErrnoStatus(errno, "cannot rename", path_);
  }
  damage_ = absl::StrCat(path_, " is not a regular file; it was renamed to ", aside,
                         ", and the worker continues without its records");
  return absl::OkStatus();
}

absl::Status RecordLog::ReplaceDamaged(int64_t sound_bytes) {
  const std::string aside = NameAside(path_);
  // Link instead of rename, so that the original name always leads to a file with the records.
  if (link(path_.c_str(), aside.c_str()) != 0) {
    return ErrnoStatus(errno, "cannot link", path_);
  }
  TRAINYARD_RETURN_IF_ERROR(Rewrite(records_at_open_));
  damage_ = absl::StrCat(path_, " is damaged at byte ", sound_bytes, "; the file was renamed to ",
                         aside, ", and the worker continues with the ", records_at_open_.size(),
                         " intact records. Check the disk (dmesg)");
  return absl::OkStatus();
}

void RecordLog::ReserveAhead() {
  if (reserved_until_ - size_bytes_ >= kReservedBytes / 2) return;
  const int64_t until = size_bytes_ + kReservedBytes;
  if (fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, size_bytes_, kReservedBytes) == 0) {
    reserved_until_ = until;
  }
}

absl::Status RecordLog::OpenForAppend() {
  fd_.Reset(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd_.valid()) return ErrnoStatus(errno, "cannot open", path_);
  return absl::OkStatus();
}

absl::Status RecordLog::Append(std::string_view record) {
  if (record.size() > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": a record of ", record.size(), " bytes is too long"));
  }
  if (directory_sync_due_) TRAINYARD_RETURN_IF_ERROR(SyncDirectoryOf(path_));
  directory_sync_due_ = false;
  std::string framed;
  AppendFramed(record, framed);
  absl::Status status = WriteAll(fd_.get(), framed, size_bytes_, path_);
  if (status.ok() && fdatasync(fd_.get()) != 0) status = ErrnoStatus(errno, "cannot sync", path_);
  if (!status.ok()) {
    // Ignore an error: the next append overwrites the remaining bytes, or the next open cuts them
    // off.
    (void)!ftruncate(fd_.get(), size_bytes_);
    reserved_until_ = 0;
    return status;
  }
  size_bytes_ += static_cast<int64_t>(framed.size());
  ReserveAhead();
  return absl::OkStatus();
}

absl::Status RecordLog::Rewrite(const std::vector<std::string>& records) {
  std::string text;
  for (const std::string& record : records) AppendFramed(record, text);
  const absl::Status status = WriteFileAtomically(path_, text);
  if (!status.ok() && !WasReplaced()) return status;
  // The name now leads to the new file, so later appends must go to the new file. Until the
  // directory is synced, a power failure could undo the rename.
  directory_sync_due_ = !status.ok();
  size_bytes_ = static_cast<int64_t>(text.size());
  reserved_until_ = 0;
  TRAINYARD_RETURN_IF_ERROR(OpenForAppend());
  ReserveAhead();
  return status;
}

bool RecordLog::WasReplaced() const {
  struct stat opened {};
  struct stat named {};
  return fstat(fd_.get(), &opened) != 0 || stat(path_.c_str(), &named) != 0 ||
         opened.st_ino != named.st_ino || opened.st_dev != named.st_dev;
}

}  // namespace trainyard::worker
