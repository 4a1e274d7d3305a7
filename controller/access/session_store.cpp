#include "controller/access/session_store.h"

#include <cstddef>

#include "proto/support/durable_file.h"

namespace trainyard::controller {
namespace {

// This size is enough for SessionTable::kMost sessions of about 1.5 KB each, with a margin.
constexpr std::size_t kMaxFileBytes = 1 << 20;

}  // namespace

absl::StatusOr<std::string> FileSessionStore::Read() { return ReadSmallFile(path_, kMaxFileBytes); }

// The old file is replaced by a new file with mode 0600.
absl::Status FileSessionStore::Write(const std::string& text) {
  return WriteFileAtomically(path_, text);
}

}  // namespace trainyard::controller
