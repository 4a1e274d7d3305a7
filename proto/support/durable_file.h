// proto/files/durable_file.h with absl::Status and files of mode 0600, and functions to read
// small files.
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

// OK, or the error with the code for its errno value.
absl::Status ToStatus(const FileResult& result);

// Errors name the path and the cause; codes as in absl::ErrnoToStatus (RESOURCE_EXHAUSTED for a
// full disk, NOT_FOUND for a missing directory, ...).
absl::Status WriteFileAtomically(const std::string& path, std::string_view text);

// Makes creations, renames and removals in the directory of `path` durable.
absl::Status SyncDirectoryOf(const std::string& path);

absl::Status ReserveAtomicFile(const std::string& path, std::size_t bytes);

// Opens a file with the flags of open(2) plus CLOEXEC. Does not block on a FIFO, as open(2) would.
// FAILED_PRECONDITION if the path is not a regular file.
absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path, int flags, mode_t mode = 0600);

// Reads the whole file. NOT_FOUND if it does not exist, FAILED_PRECONDITION if it is not a regular
// file, RESOURCE_EXHAUSTED if it is larger than max_bytes.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes = 1 << 20);
// Like ReadSmallFile(path), for an open file; `path` names it in errors.
absl::StatusOr<std::string> ReadSmallFile(const UniqueFd& file, const std::string& path,
                                          std::size_t max_bytes);

// "WHAT SUBJECT: cause" with the code for the errno value.
absl::Status ErrnoStatus(int error, absl::string_view what, absl::string_view subject);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_DURABLE_FILE_H_
