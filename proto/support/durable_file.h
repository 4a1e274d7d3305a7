// Wraps proto/files/durable_file.h for the daemons: returns absl::Status and creates files with
// mode 0600. Adds functions that read small files.
#ifndef TRAINYARD_PROTO_SUPPORT_DURABLE_FILE_H_
#define TRAINYARD_PROTO_SUPPORT_DURABLE_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/files/durable_file.h"

namespace trainyard {

// Returns OK, or an error with the code that corresponds to the errno value in `result`.
absl::Status ToStatus(const FileResult& result);

// Writes a file that appears under its name only when it is complete. Errors name the path and the
// cause. The codes are those of absl::ErrnoToStatus, such as RESOURCE_EXHAUSTED for a full disk and
// NOT_FOUND for a missing directory.
absl::Status WriteFileAtomically(const std::string& path, std::string_view text);

// Syncs the directory that contains `path`, so that creations, renames and removals of files there
// survive a power failure.
absl::Status SyncDirectoryOf(const std::string& path);

absl::Status ReserveAtomicFile(const std::string& path, std::size_t bytes);

// Opens a regular file with the given `flags` of open(2) and O_CLOEXEC. Unlike open(2), does not
// block on a FIFO. FAILED_PRECONDITION: the path is not a regular file.
absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path, int flags, mode_t mode = 0600);

// Returns the contents of the file. NOT_FOUND: no such file. FAILED_PRECONDITION: not a regular
// file. RESOURCE_EXHAUSTED: the file is larger than max_bytes.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes = 1 << 20);
// Like ReadSmallFile(path), but reads the open file `file`. Errors name `path`.
absl::StatusOr<std::string> ReadSmallFile(const UniqueFd& file, const std::string& path,
                                          std::size_t max_bytes);

// Returns an error with the message "WHAT SUBJECT: cause" and the status code that corresponds to
// the errno value `error`.
absl::Status ErrnoStatus(int error, absl::string_view what, absl::string_view subject);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_DURABLE_FILE_H_
