#include "controller/store_opening.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "controller/cluster_id.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// Another controller may lead by now, so this one must answer nobody.
[[noreturn]] void ExitWithoutLease(const absl::Status& cause) {
  spdlog::critical(
      "{}. The controller exits. Nothing acknowledged is lost, and running jobs continue; start "
      "the "
      "controller again",
      std::string(cause.message()));
  spdlog::default_logger()->flush();
  std::_Exit(EXIT_FAILURE);
}

// Names this controller to others on the same database.
std::string HolderName(const ControllerOptions& options) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return absl::StrCat(host.data(), " (process ", getpid(), ", ", options.listen, ")");
}

}  // namespace

absl::StatusOr<Stores> OpenStores(const ControllerOptions& options) {
  if (options.postgres.empty()) return OpenSqliteStores(options.data_dir);
  return OpenPostgresStores(
      {.settings = options.postgres,
       .data_directory = options.data_dir,
       .new_cluster_id = NewClusterId(),
       .holder = HolderName(options),
       .on_wait = [](const std::string& reason) { spdlog::warn("{}", reason); },
       .on_lost = ExitWithoutLease});
}

absl::StatusOr<std::string> ClusterIdOf(const Stores& stores, bool log_is_empty) {
  if (!stores.cluster_id.empty()) return stores.cluster_id;
  if (stores.directory == nullptr) return NewClusterId();
  return IdentifyStores(stores.directory->path(), log_is_empty);
}

std::string DatabaseFilesOf(const Stores& stores) {
  if (stores.directory == nullptr || !stores.database.empty()) return "";
  return stores.directory->path();
}

RetentionPolicy RetentionOf(const Stores& stores, RetentionPolicy policy) {
  if (stores.database.empty()) return policy;
  for (RetentionRule* rule : {&policy.logs, &policy.metrics, &policy.events}) rule->disk_share = 0;
  return policy;
}

}  // namespace trainyard::controller
