// Random values (nonces) in small files. Processes on different machines compare them to find out
// whether a path leads to the same directory on all of them: if so, all read the same value.
#ifndef TRAINYARD_PROTO_FILES_DIRECTORY_NONCE_H_
#define TRAINYARD_PROTO_FILES_DIRECTORY_NONCE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proto/files/durable_file.h"

namespace trainyard {

// The name of the nonce file in the checkpoint root. The first process that uses the root creates
// the file. It is never replaced.
inline constexpr char kRootNonceFile[] = ".trainyard-root";

inline constexpr std::size_t kNonceDigits = 32;

// Returns a new random nonce of 32 lower-case hexadecimal digits. Returns an empty text if the
// system cannot provide random bytes.
std::string NewNonce();

bool IsNonce(std::string_view text);

struct ReadNonceResult {
  std::string nonce;               // Empty on an error.
  std::optional<FileError> error;  // ENOENT: no such file. EBADMSG: it contains no nonce.
};

// Reads the file at `path`. Never blocks on a FIFO.
ReadNonceResult ReadNonce(const std::string& path);

// Reads the file at `path`. If it is missing, first creates it with a new nonce, readable by
// everyone. If several processes create it at the same time, one succeeds and all of them read its
// nonce.
ReadNonceResult ReadOrMakeNonce(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_FILES_DIRECTORY_NONCE_H_
