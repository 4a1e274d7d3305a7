// Wraps proto/files/durable_file.h: returns absl::Status and creates files with mode 0600. Adds
// functions that read small files.
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

// Returns OK, or an error whose code corresponds to the errno value of `result`.
absl::Status ToStatus(const FileResult& result);

// Writes a file that appears under its name only when it is complete. Errors name the path and the
// cause. Codes are those of absl::ErrnoToStatus, such as RESOURCE_EXHAUSTED for a full disk and
// NOT_FOUND for a missing directory.
absl::Status WriteFileAtomically(const std::string& path, std::string_view text);

// Syncs the directory that contains `path`, so that files created, renamed or removed there stay so
// after a crash.
absl::Status SyncDirectoryOf(const std::string& path);

absl::Status ReserveAtomicFile(const std::string& path, std::size_t bytes);

// Opens a regular file with `flags` of open(2) plus O_CLOEXEC. Unlike open(2), it does not block if
// the path is a FIFO. Returns FAILED_PRECONDITION if the path is not a regular file.
absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path, int flags, mode_t mode = 0600);

// Returns the contents of the file. NOT_FOUND if it does not exist, FAILED_PRECONDITION if it is
// not a regular file, RESOURCE_EXHAUSTED if it is larger than max_bytes.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes = 1 << 20);
// Reads the open file `file` as ReadSmallFile(path) does. Errors name it as `path`.
absl::StatusOr<std::string> ReadSmallFile(const UniqueFd& file, const std::string& path,
                                          std::size_t max_bytes);

// Returns an error with the message "WHAT SUBJECT: cause" and the status code for the errno value
// `error`.
absl::Status ErrnoStatus(int error, absl::string_view what, absl::string_view subject);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_DURABLE_FILE_H_
