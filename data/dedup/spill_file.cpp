#include "data/dedup/spill_file.h"

#include <fcntl.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/files/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr size_t kBlockBytes = size_t{64} << 10;
constexpr size_t kPieceBufferBytes = size_t{1} << 20;

absl::Status SpillError(const std::string& action, const std::string& path, int error) {
  const std::string message = absl::StrCat(action, " ", path, ": ", std::strerror(error));
  if (error != ENOSPC && error != EDQUOT) return absl::InternalError(message);
  return absl::ResourceExhaustedError(
      message + "; free disk space, or choose another directory with --scratch");
}

absl::Status SpillDamaged(const std::string& path, const std::string& cause) {
  return absl::DataLossError(
      absl::StrCat("scratch file ", path, " is damaged: ", cause,
                   "; check the disk, or choose another directory with --scratch, and run the "
                   "command again"));
}

absl::StatusOr<UniqueFd> CreateSpill(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return SpillError("cannot create", path, errno);
  return file;
}

absl::Status WriteSpill(const UniqueFd& file, std::string_view bytes, const std::string& path) {
  const FileResult failed = WriteAll(file.get(), bytes, path);
  return failed.has_value() ? SpillError("cannot write", path, failed->number) : absl::OkStatus();
}

// Fills `data` from `position`.
absl::Status ReadSpill(int file, uint64_t position, char* data, size_t size,
                       const std::string& path) {
  while (size > 0) {
    const ssize_t got = pread(file, data, size, static_cast<off_t>(position));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SpillError("cannot read", path, errno);
    if (got == 0) return SpillDamaged(path, "its end is missing");
    data += got;
    position += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

}  // namespace

SpillFile::SpillFile(std::string path, size_t record_bytes)
    : path_(std::move(path)),
      record_bytes_(record_bytes),
      block_bytes_(kBlockBytes / record_bytes * record_bytes) {}

absl::Status SpillFile::Append(std::string_view record) {
  buffer_ += record;
  ++records_;
  return buffer_.size() < block_bytes_ ? absl::OkStatus() : Flush();
}

absl::Status SpillFile::Flush() {
  if (!file_.valid()) {
    TRAINYARD_ASSIGN_OR_RETURN(file_, CreateSpill(path_));
  }
  block_hashes_.push_back(XXH64(buffer_.data(), buffer_.size(), block_hashes_.size()));
  const absl::Status written = WriteSpill(file_, buffer_, path_);
  buffer_.clear();
  return written;
}

absl::Status SpillFile::Finish() {
  if (!file_.valid()) return absl::OkStatus();
  if (!buffer_.empty()) TRAINYARD_RETURN_IF_ERROR(Flush());
  std::string().swap(buffer_);
  // NFS may report a full disk only here.
  if (close(file_.Release()) != 0) return SpillError("cannot write", path_, errno);
  return absl::OkStatus();
}

absl::Status SpillFile::Read(const std::function<void(std::string_view)>& take) const {
  if (block_hashes_.empty()) {
    if (!buffer_.empty()) take(buffer_);
    return absl::OkStatus();
  }
  const UniqueFd file(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return SpillError("cannot open", path_, errno);
  const off_t end = lseek(file.get(), 0, SEEK_END);
  const uint64_t bytes = records_ * record_bytes_;
  if (end < 0 || static_cast<uint64_t>(end) != bytes) {
    return SpillDamaged(path_, absl::StrCat("it has ", end, " bytes instead of ", bytes));
  }
  std::string block;
  for (size_t i = 0; i < block_hashes_.size(); ++i) {
    const uint64_t position = uint64_t{i} * block_bytes_;
    block.resize(std::min<uint64_t>(block_bytes_, bytes - position));
    TRAINYARD_RETURN_IF_ERROR(ReadSpill(file.get(), position, block.data(), block.size(), path_));
    if (XXH64(block.data(), block.size(), i) != block_hashes_[i]) {
      return SpillDamaged(path_, "a checksum is wrong");
    }
    take(block);
  }
  return absl::OkStatus();
}

void SpillFile::Remove() {
  if (!block_hashes_.empty()) unlink(path_.c_str());
  block_hashes_.clear();
  std::string().swap(buffer_);
  records_ = 0;
}

absl::StatusOr<std::unique_ptr<PieceFile>> PieceFile::Create(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(UniqueFd file, CreateSpill(path));
  return std::unique_ptr<PieceFile>(new PieceFile(path, std::move(file)));
}

absl::Status PieceFile::Append(std::string_view piece) {
  const uint64_t hash = XXH64(piece.data(), piece.size(), bytes_);
  buffer_ += piece;
  buffer_.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  bytes_ += piece.size() + sizeof(hash);
  return buffer_.size() < kPieceBufferBytes ? absl::OkStatus() : Finish();
}

absl::Status PieceFile::Finish() {
  const absl::Status written = WriteSpill(file_, buffer_, path_);
  buffer_.clear();
  return written;
}

absl::Status PieceFile::ReadAt(uint64_t position, size_t size, std::string* piece) const {
  piece->resize(size + kChecksumBytes);
  TRAINYARD_RETURN_IF_ERROR(ReadSpill(file_.get(), position, piece->data(), piece->size(), path_));
  uint64_t hash;
  std::memcpy(&hash, piece->data() + size, sizeof(hash));
  piece->resize(size);
  if (XXH64(piece->data(), size, position) != hash) {
    return SpillDamaged(path_, "a checksum is wrong");
  }
  return absl::OkStatus();
}

}  // namespace trainyard::data
