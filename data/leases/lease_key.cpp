#include "data/leases/lease_key.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "data/stages/file_status.h"
#include "proto/files/directory_nonce.h"
#include "proto/files/durable_file.h"
#include "proto/files/remove_tree.h"
#include "proto/proof/digest.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "lease-";
constexpr char kSuffix[] = ".key";

std::string PathOfKey(const std::string& directory, const std::string& name) {
  return directory + "/" + kPrefix + name + kSuffix;
}

void RemoveKeys(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) {
      (void)RemoveEntry(entry.path().string());
    }
  }
}

// The group is last, because only the group may contain a space.
std::string ProofOf(const std::string& secret, const char* side, const Greeting& greeting) {
  return KeyedHashOf(secret,
                     absl::StrCat("trainyard lease ", side, " ", greeting.client_nonce, " ",
                                  greeting.server_nonce, " ", greeting.rank, " ", greeting.group));
}

}  // namespace

LeaseKey::LeaseKey(std::string path, std::string name, std::string secret)
    : path_(std::move(path)), name_(std::move(name)), secret_(std::move(secret)) {}

LeaseKey::~LeaseKey() { unlink(path_.c_str()); }

absl::StatusOr<std::unique_ptr<LeaseKey>> LeaseKey::Create(const std::string& directory) {
  RemoveKeys(directory);
  const std::string name = NewNonce();
  const std::string secret = NewNonce();
  if (name.empty() || secret.empty()) {
    return absl::InternalError("the system provides no random bytes");
  }
  const std::string path = PathOfKey(directory, name);
  TRAINYARD_RETURN_IF_ERROR(ToStatus(WriteFileDurably(path, {secret, "\n"}, {.mode = 0600})));
  return std::unique_ptr<LeaseKey>(new LeaseKey(path, name, secret));
}

absl::StatusOr<std::string> ReadLeaseKey(const std::string& directory, const std::string& name) {
  // The name comes from a process that has not proved its identity yet.
  if (!IsNonce(name)) return absl::FailedPreconditionError("rank 0 sent a damaged name of a key");
  const ReadNonceResult read = ReadNonce(PathOfKey(directory, name));
  if (!read.error) return read.nonce;
  return absl::FailedPreconditionError(
      absl::StrCat(read.error->action, ": ", strerror(read.error->number),
                   "; put `out` on storage that all nodes share, at the same path, and run all "
                   "processes as the same user"));
}

std::string ServerProof(const std::string& secret, const Greeting& greeting) {
  return ProofOf(secret, "server", greeting);
}

std::string ClientProof(const std::string& secret, const Greeting& greeting) {
  return ProofOf(secret, "client", greeting);
}

}  // namespace trainyard::data
