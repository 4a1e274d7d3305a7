// Random values (nonces) in small files. Processes on different machines compare nonces to find out
// whether a path leads to the same directory on all machines. If it does, all processes read the
// same nonce.
#ifndef TRAINYARD_PROTO_FILES_DIRECTORY_NONCE_H_
#define TRAINYARD_PROTO_FILES_DIRECTORY_NONCE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proto/files/durable_file.h"

namespace trainyard {

// The name of the nonce file in the checkpoint root. The first process that uses the root creates
// the file. No process replaces it.
inline constexpr char kRootNonceFile[] = ".trainyard-root";

inline constexpr std::size_t kNonceDigits = 32;

// Returns a new random nonce of 32 lower-case hexadecimal digits; empty if the system cannot
// provide random bytes.
std::string NewNonce();

bool IsNonce(std::string_view text);

struct ReadNonceResult {
  std::string nonce;               // Empty on an error.
  std::optional<FileError> error;  // ENOENT: no such file. EBADMSG: it contains no nonce.
};

// Reads the nonce in the file at `path`. Never blocks, even if the file is a FIFO.
ReadNonceResult ReadNonce(const std::string& path);

// Reads the nonce in the file at `path`. If the file is missing, first creates it with a new nonce,
// readable by everyone. If several processes create the file at the same time, all of them return
// the same nonce.
ReadNonceResult ReadOrMakeNonce(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_FILES_DIRECTORY_NONCE_H_
