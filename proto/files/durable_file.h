// Writes files and directories that are on disk when the call returns. Uses only POSIX calls.
// std::filesystem cannot be used, because PyTorch's CUDA wheel replaces its symbols with those of
// another libstdc++.
//
// Callers convert a FileError into their own kind of error: proto/support/durable_file.h for the
// daemons, trainer/checkpoint/durable_file.h for the trainer.
#ifndef TRAINYARD_PROTO_FILES_DURABLE_FILE_H_
#define TRAINYARD_PROTO_FILES_DURABLE_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/files/unique_fd.h"

namespace trainyard {

// A failed system call.
struct FileError {
  int number = 0;      // errno
  std::string action;  // Call and path, such as "cannot sync /data/manifest.json".
};

// Options for creating a file.
struct FileAccess {
  mode_t mode = 0600;
  // True to write through a symbolic link at the path. This is unsafe if other users can create
  // links there.
  bool follow_links = false;
};

// nullopt on success.
using FileResult = std::optional<FileError>;

// Writes all bytes of `piece` to an open file.
[[nodiscard]] FileResult WriteAll(int fd, std::string_view piece, const std::string& path);

// A file that is written piece by piece. After Finish its contents are on disk, but its name is
// durable only after SyncDirectory. If the object is destroyed before Finish, the unfinished file
// is not removed. Used by one thread.
class DurableFile {
 public:
  // Creates the file, or empties an existing one.
  [[nodiscard]] FileResult Create(const std::string& path, const FileAccess& access);
  // Creates the file; EEXIST if it exists.
  [[nodiscard]] FileResult CreateNew(const std::string& path, const FileAccess& access);
  [[nodiscard]] FileResult Append(std::string_view piece);
  // Syncs and closes the file. Errors of close(2) are returned too, because NFS reports a full disk
  // there.
  [[nodiscard]] FileResult Finish();

 private:
  FileResult Open(const std::string& path, const FileAccess& access, int flags);

  std::string path_;
  UniqueFd file_;
};

// Writes the pieces into a DurableFile.
[[nodiscard]] FileResult WriteFileDurably(const std::string& path,
                                          const std::vector<std::string_view>& pieces,
                                          const FileAccess& access);

// Replaces the file at the path. Even after a power failure it is either the old file or the
// complete new one. Writes PATH.tmp, syncs it, renames it to PATH and syncs the directory. There
// must be only one writer at a time per path.
[[nodiscard]] FileResult WriteFileAtomically(const std::string& path, std::string_view text,
                                             const FileAccess& access);

// Allocates disk space for a later WriteFileAtomically of at most `bytes`. That write then succeeds
// even if the disk has become full. Does nothing on file systems that cannot reserve space.
[[nodiscard]] FileResult ReserveAtomicFile(const std::string& path, std::size_t bytes,
                                           const FileAccess& access);

// Makes creations, renames and removals in the directory durable.
[[nodiscard]] FileResult SyncDirectory(const std::string& path);

// Renames directory `from` to `to`. If `to` exists, it is renamed to `from`. Atomic if the file
// system can exchange two names; otherwise uses ExchangeByRenames. Durable only after SyncDirectory
// of the parent.
[[nodiscard]] FileResult ReplaceDirectory(const std::string& from, const std::string& to);

// Exchanges the names of two directories by three renames, so for a moment `to` does not exist.
// After a failure, `to` is its old directory again if the file system permits that.
[[nodiscard]] FileResult ExchangeByRenames(const std::string& from, const std::string& to);

// Returns the parent directory of `path`; "." if `path` contains no slash.
std::string DirectoryOf(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_FILES_DURABLE_FILE_H_
