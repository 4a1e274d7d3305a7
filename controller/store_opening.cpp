#include "controller/store_opening.h"

#include <chrono>
#include <utility>

#include "controller/cluster_id.h"
#include "controller/storage/log_mark_keeper.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr std::chrono::seconds kSlowOpening{2};

}  // namespace

absl::StatusOr<std::unique_ptr<LeaderSeat>> SeatOpening::Open() {
  if (!std::exchange(logged_, true)) {
    spdlog::info("connecting to the database as {}", stores_.holder);
  }
  const auto begin = std::chrono::steady_clock::now();
  auto seat = OpenLeaderSeat(stores_);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  if (time >= kSlowOpening) {
    spdlog::warn(
        "connecting to the database took {:.1f} s; check the load of its server and the "
        "resolution of its host name",
        time.count());
  }
  return seat;
}

absl::StatusOr<Stores> OpenStores(const ControllerOptions& options) {
  if (options.postgres.empty()) return OpenSqliteStores(options.data_dir);
  spdlog::info("opening the stores in PostgreSQL");
  return OpenPostgresStores(
      {.settings = options.postgres,
       .data_directory = options.data_dir,
       .new_cluster_id = NewClusterId(),
       .leader_term = options.loop.core.leader_term,
       .on_wait = [](const std::string& reason) { spdlog::warn("{}", reason); }});
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

std::string LogMarkFileOf(const Stores& stores) {
  if (stores.directory == nullptr || stores.database.empty()) return "";
  return LogMarkFileIn(stores.directory->path());
}

RetentionPolicy RetentionOf(const Stores& stores, RetentionPolicy policy) {
  if (stores.database.empty()) return policy;
  for (RetentionRule* rule : {&policy.logs, &policy.metrics, &policy.events}) rule->disk_share = 0;
  return policy;
}

}  // namespace trainyard::controller
