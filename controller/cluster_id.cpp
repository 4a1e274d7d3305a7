#include "controller/cluster_id.h"

#include <algorithm>
#include <random>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "controller/store/files/store_identity.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kIdDigits = 32;

bool IsClusterId(const std::string& text) {
  return text.size() == kIdDigits && std::all_of(text.begin(), text.end(), absl::ascii_isxdigit);
}

}  // namespace

std::string NewClusterId() {
  constexpr char kHex[] = "0123456789abcdef";
  std::random_device random;
  std::string id;
  while (id.size() < kIdDigits) id.push_back(kHex[random() % 16]);
  return id;
}

int64_t RendezvousOffset(const std::string& cluster_id) {
  // FNV-1a hash, shifted right by one bit so that it is never negative.
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : cluster_id) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return static_cast<int64_t>(hash >> 1);
}

absl::StatusOr<std::string> LoadClusterId(const std::string& directory, bool fresh) {
  const std::string path = directory + "/cluster_id";
  if (fresh) {
    const std::string id = NewClusterId();
    TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(path, id + "\n"));
    return id;
  }
  const auto text = ReadSmallFile(path);
  if (text.ok()) {
    const std::string id(absl::StripAsciiWhitespace(*text));
    if (IsClusterId(id)) return id;
  }
  return absl::DataLossError(absl::StrCat(
      path,
      " is missing or damaged, although the event log contains jobs. With a new cluster id, every "
      "worker would reject this controller, and all jobs would be lost. Copy the file `cluster_id` "
      "from a worker's data directory or from a backup to this path"));
}

absl::StatusOr<std::string> IdentifyStores(const std::string& directory, bool log_is_empty) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string bound, ReadStoreIdentity(directory + "/events.db"));
  const bool fresh = log_is_empty && bound.empty();
  TRAINYARD_RETURN_IF_ERROR(CheckStoreIdentities(directory, fresh));
  TRAINYARD_ASSIGN_OR_RETURN(std::string cluster_id, LoadClusterId(directory, fresh));
  TRAINYARD_RETURN_IF_ERROR(BindStores(directory, cluster_id));
  return cluster_id;
}

}  // namespace trainyard::controller
