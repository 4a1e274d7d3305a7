// Small files that are either the old version or the new one, also after a power cut.
#ifndef TRAINYARD_PROTO_SUPPORT_DURABLE_FILE_H_
#define TRAINYARD_PROTO_SUPPORT_DURABLE_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainyard {

// Writes PATH.tmp, fsyncs it, renames it over PATH and fsyncs the directory. Mode 0600. One writer
// at a time for each path. Errors name the path and the cause; codes as absl::ErrnoToStatus gives
// them (RESOURCE_EXHAUSTED for a full disk, NOT_FOUND for a missing directory, ...).
absl::Status WriteFileAtomically(const std::string& path, std::string_view text);

// Makes what was created, renamed or removed in the directory of `path` durable.
absl::Status SyncDirectoryOf(const std::string& path);

// Takes disk space for a later WriteFileAtomically of at most `bytes`, so that the write succeeds
// on a disk that has filled up meanwhile. Best effort on file systems that cannot reserve.
absl::Status ReserveAtomicFile(const std::string& path, std::size_t bytes);

// The whole file. NOT_FOUND when there is none, RESOURCE_EXHAUSTED when it has more than max_bytes.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes = 1 << 20);

// "WHAT SUBJECT: cause" with the code that belongs to the errno value.
absl::Status ErrnoStatus(int error, absl::string_view what, absl::string_view subject);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_DURABLE_FILE_H_
