// Writes files and directories that are on disk when the call returns. Uses POSIX calls instead of
// std::filesystem, because PyTorch's CUDA wheel replaces the symbols of std::filesystem with
// symbols of another libstdc++.
//
// Callers convert a FileError into their own error type: the daemons in
// proto/support/durable_file.h, the trainer in trainer/checkpoint/durable_file.h.
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
  std::string action;  // The failed call and its path, such as "cannot sync /data/manifest.json".
};

// Options for creating a file.
struct FileAccess {
  mode_t mode = 0600;
  // True to write through a symbolic link at the path. Unsafe if other users can create links
  // there.
  bool follow_links = false;
};

// nullopt on success.
using FileResult = std::optional<FileError>;

// Writes all bytes of `piece` to an open file.
[[nodiscard]] FileResult WriteAll(int fd, std::string_view piece, const std::string& path);

// A file that is written piece by piece. After Finish, its contents are on disk; its name is
// durable only after SyncDirectory. If the object is destroyed before Finish, the unfinished file
// remains. Used by one thread.
class DurableFile {
 public:
  // Creates the file, or empties an existing one.
  [[nodiscard]] FileResult Create(const std::string& path, const FileAccess& access);
  // Creates the file; EEXIST if it exists.
  [[nodiscard]] FileResult CreateNew(const std::string& path, const FileAccess& access);
  // Starts to write to the disk after each 8 MiB, so that Finish waits for less.
  [[nodiscard]] FileResult Append(std::string_view piece);
  // Syncs and closes the file. Includes errors of close(2), because NFS may report a full disk only
  // then.
  [[nodiscard]] FileResult Finish();

 private:
  FileResult Open(const std::string& path, const FileAccess& access, int flags);

  std::string path_;
  UniqueFd file_;
  std::size_t bytes_ = 0;
  std::size_t started_bytes_ = 0;  // whose way to the disk has started
};

// Writes the pieces into a DurableFile.
[[nodiscard]] FileResult WriteFileDurably(const std::string& path,
                                          const std::vector<std::string_view>& pieces,
                                          const FileAccess& access);

// Replaces the file at `path`. After a power failure, `path` contains either the old text or the
// complete new text. Writes PATH.tmp, syncs it, renames it to PATH and syncs the directory. Only
// one writer at a time may use the same path.
[[nodiscard]] FileResult WriteFileAtomically(const std::string& path, std::string_view text,
                                             const FileAccess& access);

// Allocates disk space for a later WriteFileAtomically of at most `bytes`. That write then succeeds
// even if the disk has become full. Does nothing on file systems that cannot reserve space.
[[nodiscard]] FileResult ReserveAtomicFile(const std::string& path, std::size_t bytes,
                                           const FileAccess& access);

// Makes all earlier creations, renames and removals in the directory durable.
[[nodiscard]] FileResult SyncDirectory(const std::string& path);

// Renames directory `from` to `to`. If `to` is a directory that is not empty, the two exchange
// their names. The exchange is atomic if the file system supports it; otherwise ExchangeByRenames
// is used. The result is durable only after SyncDirectory of the parent.
[[nodiscard]] FileResult ReplaceDirectory(const std::string& from, const std::string& to);

// Exchanges the names of two directories by three renames, so `to` does not exist for a moment. If
// the second rename fails, tries to restore `to`.
[[nodiscard]] FileResult ExchangeByRenames(const std::string& from, const std::string& to);

// Returns the parent directory of `path`; "." if `path` contains no slash.
std::string DirectoryOf(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_FILES_DURABLE_FILE_H_
