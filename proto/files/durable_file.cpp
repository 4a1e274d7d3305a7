#include "proto/files/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace trainyard {
namespace {

constexpr std::size_t kWritebackBytes = std::size_t{8} << 20;

FileError Failed(const char* action, const std::string& path) {
  return {errno, std::string("cannot ") + action + " " + path};
}

std::string TemporaryPath(const std::string& path) { return path + ".tmp"; }

UniqueFd OpenToWrite(const std::string& path, int flags, const FileAccess& access) {
  const int links = access.follow_links ? 0 : O_NOFOLLOW;
  // O_NONBLOCK prevents open(2) from waiting for a reader if the file is a FIFO.
  return UniqueFd(
      open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | links | flags, access.mode));
}

FileResult SyncAndClose(UniqueFd fd, const std::string& path) {
  if (fsync(fd.get()) != 0) return Failed("sync", path);
  if (close(fd.Release()) != 0) return Failed("close", path);
  return std::nullopt;
}

}  // namespace

FileResult WriteAll(int fd, std::string_view piece, const std::string& path) {
  constexpr std::size_t kBytesPerCall = std::size_t{1} << 30;  // Linux limit: 2 GiB per call.
  while (!piece.empty()) {
    const ssize_t count = write(fd, piece.data(), std::min(piece.size(), kBytesPerCall));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed("write", path);
    piece.remove_prefix(static_cast<std::size_t>(count));
  }
  return std::nullopt;
}

FileResult DurableFile::Open(const std::string& path, const FileAccess& access, int flags) {
  path_ = path;
  bytes_ = started_bytes_ = 0;
  file_ = OpenToWrite(path, flags, access);
  if (!file_.valid()) return Failed("create", path);
  return std::nullopt;
}

FileResult DurableFile::Create(const std::string& path, const FileAccess& access) {
  return Open(path, access, O_TRUNC);
}

FileResult DurableFile::CreateNew(const std::string& path, const FileAccess& access) {
  return Open(path, access, O_EXCL);
}

FileResult DurableFile::Append(std::string_view piece) {
  if (FileResult failed = WriteAll(file_.get(), piece, path_)) return failed;
  bytes_ += piece.size();
  if (bytes_ - started_bytes_ < kWritebackBytes) return std::nullopt;
  // Only saves time. File systems without this call return an error, and Finish syncs all bytes.
  (void)sync_file_range(file_.get(), static_cast<off_t>(started_bytes_),
                        static_cast<off_t>(bytes_ - started_bytes_), SYNC_FILE_RANGE_WRITE);
  started_bytes_ = bytes_;
  return std::nullopt;
}

FileResult DurableFile::Finish() { return SyncAndClose(std::move(file_), path_); }

FileResult WriteFileDurably(const std::string& path, const std::vector<std::string_view>& pieces,
                            const FileAccess& access) {
  DurableFile file;
  if (FileResult failed = file.Create(path, access)) return failed;
  for (const std::string_view piece : pieces) {
    if (FileResult failed = file.Append(piece)) return failed;
  }
  return file.Finish();
}

FileResult WriteFileAtomically(const std::string& path, std::string_view text,
                               const FileAccess& access) {
  const std::string temporary = TemporaryPath(path);
  // Open without O_TRUNC, so that the write reuses the blocks that ReserveAtomicFile allocated.
  UniqueFd fd = OpenToWrite(temporary, 0, access);
  if (!fd.valid()) return Failed("create", temporary);
  if (FileResult failed = WriteAll(fd.get(), text, temporary)) return failed;
  if (ftruncate(fd.get(), static_cast<off_t>(text.size())) != 0) {
    return Failed("truncate", temporary);
  }
  if (FileResult failed = SyncAndClose(std::move(fd), temporary)) return failed;
  if (rename(temporary.c_str(), path.c_str()) != 0) return Failed("rename into place", path);
  return SyncDirectory(DirectoryOf(path));
}

FileResult ReserveAtomicFile(const std::string& path, std::size_t bytes, const FileAccess& access) {
  const std::string temporary = TemporaryPath(path);
  const UniqueFd fd = OpenToWrite(temporary, 0, access);
  if (!fd.valid()) return Failed("create", temporary);
  // Do not use posix_fallocate, which may write zeros instead of allocating space. On copy-on-write
  // file systems, written zeros reserve no space for a later write.
  if (fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes)) != 0 && errno != EOPNOTSUPP &&
      errno != ENOSYS) {
    return Failed("reserve", temporary);
  }
  return std::nullopt;
}

FileResult SyncDirectory(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return Failed("open directory", path);
  // Some network file systems cannot sync a directory and return EINVAL.
  if (fsync(fd.get()) != 0 && errno != EINVAL) return Failed("sync directory", path);
  return std::nullopt;
}

FileResult ExchangeByRenames(const std::string& from, const std::string& to) {
  const std::string aside = from + "-old";
  if (rename(to.c_str(), aside.c_str()) != 0) return Failed("rename", to);
  if (rename(from.c_str(), to.c_str()) != 0) {
    const FileError failed = Failed("rename", from);
    rename(aside.c_str(), to.c_str());
    return failed;
  }
  if (rename(aside.c_str(), from.c_str()) != 0) return Failed("rename", aside);
  return std::nullopt;
}

FileResult ReplaceDirectory(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) == 0) return std::nullopt;
  if (errno != ENOTEMPTY && errno != EEXIST) return Failed("rename", from);
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    return std::nullopt;
  }
  // Network file systems such as NFS cannot exchange names.
  if (errno != EINVAL && errno != ENOSYS) return Failed("replace", to);
  return ExchangeByRenames(from, to);
}

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace trainyard
