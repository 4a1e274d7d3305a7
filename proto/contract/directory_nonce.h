// Random values in small files by which processes on several machines find out whether they see the
// same directory under a path: who shares the directory reads the same value.
#ifndef TRAINYARD_PROTO_CONTRACT_DIRECTORY_NONCE_H_
#define TRAINYARD_PROTO_CONTRACT_DIRECTORY_NONCE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proto/contract/durable_file.h"

namespace trainyard {

// File of the nonce in the checkpoint root. Whoever sees the root first makes it, and nobody
// replaces it.
inline constexpr char kRootNonceFile[] = ".trainyard-root";

inline constexpr std::size_t kNonceDigits = 32;

// A new random nonce: 32 lower-case hexadecimal digits. Empty when the system has no random bytes.
std::string NewNonce();

bool IsNonce(std::string_view text);

struct ReadNonceResult {
  std::string nonce;               // Empty: see error.
  std::optional<FileError> error;  // ENOENT: there is no file. EBADMSG: it holds no nonce.
};

// Reads the file at `path`. Never waits for the other end of a FIFO.
ReadNonceResult ReadNonce(const std::string& path);

// Reads the file at `path`, which is made with a new nonce, readable for everybody, when there is
// none. Of several processes that make it at the same time one wins, and all read its nonce.
ReadNonceResult ReadOrMakeNonce(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_DIRECTORY_NONCE_H_
