// Files and directories that are on the disk when the call returns. POSIX calls only: no
// std::filesystem, whose symbols PyTorch's CUDA wheel replaces by another libstdc++'s.
//
// Callers turn a FileError into their own kind of error: proto/support/durable_file.h for the
// daemons, trainer/checkpoint/durable_file.h for the trainer.
#ifndef TRAINYARD_PROTO_CONTRACT_DURABLE_FILE_H_
#define TRAINYARD_PROTO_CONTRACT_DURABLE_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/contract/unique_fd.h"

namespace trainyard {

// A system call that failed.
struct FileError {
  int number = 0;      // errno
  std::string action;  // Call and path, such as "cannot sync /data/manifest.json".
};

// Access to a file that is created.
struct FileAccess {
  mode_t mode = 0600;
  // True to write through a symbolic link at the path. Not safe where others may create links.
  bool follow_links = false;
};

// Nothing on success.
using FileResult = std::optional<FileError>;

// Writes the whole piece to an open file.
[[nodiscard]] FileResult WriteAll(int fd, std::string_view piece, const std::string& path);

// A file that is written piece by piece and on the disk after Finish. The name itself is durable
// only after SyncDirectory. A file that was not finished is left as it is. One thread.
class DurableFile {
 public:
  // Makes the file, or empties the one that is there.
  [[nodiscard]] FileResult Create(const std::string& path, const FileAccess& access);
  // Makes the file; EEXIST when there is one.
  [[nodiscard]] FileResult CreateNew(const std::string& path, const FileAccess& access);
  [[nodiscard]] FileResult Append(std::string_view piece);
  // Syncs and closes: on NFS close(2) is where a full disk shows.
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

// PATH is either the old file or the whole new one, also after a power cut: writes PATH.tmp, syncs
// it, renames it over PATH and syncs the directory. One writer at a time for each path.
[[nodiscard]] FileResult WriteFileAtomically(const std::string& path, std::string_view text,
                                             const FileAccess& access);

// Allocates disk space for a later WriteFileAtomically of at most `bytes`, so that the write
// succeeds on a disk that has filled up meanwhile. Does nothing on file systems that cannot
// reserve.
[[nodiscard]] FileResult ReserveAtomicFile(const std::string& path, std::size_t bytes,
                                           const FileAccess& access);

// Makes creations, renames and removals inside the directory durable.
[[nodiscard]] FileResult SyncDirectory(const std::string& path);

// Moves directory `from` to the name `to`; a directory that had the name `to` gets the name `from`.
// Atomic where the file system can exchange two names, else ExchangeByRenames. Durable only after
// SyncDirectory of the parent.
[[nodiscard]] FileResult ReplaceDirectory(const std::string& from, const std::string& to);

// Exchanges the names of two directories by three renames: for a moment `to` does not exist. After
// a failure `to` has its old directory again, as far as the file system allows it.
[[nodiscard]] FileResult ExchangeByRenames(const std::string& from, const std::string& to);

// The directory that holds `path`; "." for a bare name.
std::string DirectoryOf(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_DURABLE_FILE_H_
