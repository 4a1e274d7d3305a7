#include "controller/api/cluster/database_checks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace trainyard::controller {
namespace {

// A replica that is further behind cannot replace the server without a long wait.
constexpr int64_t kReplicaLagMaxMs = 60'000;
// A running standby reports twice per second.
constexpr int64_t kStandbySeenMaxMs = 10'000;
// A standby reads its missing events before it leads. After a burst of submissions, smaller numbers
// are normal for a moment.
constexpr uint64_t kStandbyBehindMax = 100'000;

v1::NodeCheck Passed(const char* name, std::string found) {
  v1::NodeCheck check;
  check.set_name(name);
  check.set_ok(true);
  check.set_found(std::move(found));
  return check;
}

v1::NodeCheck Failed(const char* name, std::string found, const char* advice) {
  v1::NodeCheck check = Passed(name, std::move(found));
  check.set_ok(false);
  check.set_advice(advice);
  return check;
}

v1::NodeCheck CheckServer(const v1::DatabaseStatus& database) {
  constexpr char kName[] = "database";
  if (!database.error().empty()) {
    return Failed(kName, database.error(),
                  "follow the advice in this message; the controller reads the state of the "
                  "database again every 10 s");
  }
  if (database.read_only()) {
    return Failed(kName, "the server accepts no writes: it is a replica, or read-only",
                  "connect to the primary (target_session_attrs=read-write with a list of hosts), "
                  "or end the read-only mode of the server");
  }
  return Passed(kName, absl::StrCat(database.kind(), " ", database.version(), ", ",
                                    database.database(), " on ", database.host()));
}

// True if commits wait for replicas less than synchronous_standby_names demands.
bool IgnoresReplicas(const v1::DatabaseStatus& database) {
  return !database.synchronous_standby_names().empty() &&
         (database.synchronous_commit() == "local" ||
          database.synchronous_commit() == "remote_write");
}

v1::NodeCheck CheckDurability(const v1::DatabaseStatus& database) {
  constexpr char kName[] = "durability";
  const std::string setting = absl::StrCat("synchronous_commit is ", database.synchronous_commit());
  if (!database.fsync()) {
    return Failed(kName, "fsync is off: a power failure of the server can destroy the database",
                  "set fsync = on in postgresql.conf and reload the server");
  }
  if (database.synchronous_commit() == "off") {
    return Failed(kName,
                  absl::StrCat(setting, ": a crash of the server loses acknowledged changes"),
                  "set synchronous_commit = on for the server, the database and the user");
  }
  if (IgnoresReplicas(database)) {
    return Failed(kName,
                  absl::StrCat(setting,
                               ", so a fail-over to a replica in "
                               "synchronous_standby_names can lose acknowledged changes"),
                  "set synchronous_commit = on for the server, the database and the user");
  }
  return Passed(kName, setting);
}

bool IsSynchronous(const v1::DatabaseReplica& replica) {
  return replica.sync_state() == "sync" || replica.sync_state() == "quorum";
}

std::string ReplicasText(const v1::DatabaseStatus& database) {
  if (!database.replicas_readable()) {
    return absl::StrCat(database.replicas_size(),
                        " connected; grant pg_read_all_stats to the controller's user to see their "
                        "delay");
  }
  int64_t lag_ms = 0;
  for (const v1::DatabaseReplica& replica : database.replicas()) {
    lag_ms = std::max(lag_ms, replica.lag_ms());
  }
  return absl::StrCat(database.replicas_size(), " connected, ",
                      std::ranges::count_if(database.replicas(), IsSynchronous),
                      " synchronous, at most ", lag_ms, " ms behind");
}

v1::NodeCheck CheckReplicas(const v1::DatabaseStatus& database, bool has_standbys) {
  constexpr char kName[] = "replicas";
  const bool waits = !database.synchronous_standby_names().empty();
  if (database.replicas().empty() && !waits) {
    // A single controller on a single server is a choice; several controllers are meant to survive
    // the loss of a machine.
    if (!has_standbys) return Passed(kName, "none; back up the database");
    return Failed(kName, "none: the cluster stops if the machine of the database fails",
                  "add a replica and name it in synchronous_standby_names "
                  "(deploy/postgresql.md)");
  }
  if (!waits) {
    return Failed(kName,
                  absl::StrCat("all ", database.replicas_size(),
                               " are asynchronous: a fail-over of the database can lose "
                               "acknowledged changes"),
                  "name replicas in synchronous_standby_names of the server");
  }
  const bool may_lack = database.replicas().empty() || database.replicas_readable();
  if (may_lack && std::ranges::none_of(database.replicas(), IsSynchronous)) {
    return Failed(kName, "none of synchronous_standby_names is connected, so commits wait",
                  "start one of these replicas, or correct synchronous_standby_names");
  }
  const auto late = std::ranges::find_if(
      database.replicas(), [](const auto& replica) { return replica.lag_ms() > kReplicaLagMaxMs; });
  if (late == database.replicas().end()) return Passed(kName, ReplicasText(database));
  return Failed(kName,
                absl::StrCat("replica ", late->name(), " is ", late->lag_ms() / 1000, " s behind (",
                             late->behind_bytes() >> 20, " MiB)"),
                "check the load, the disk and the network of this replica");
}

v1::NodeCheck CheckConnections(const v1::DatabaseStatus& database) {
  constexpr char kName[] = "connections";
  const int64_t left = database.connections_max() - database.connections();
  const std::string found = absl::StrCat(database.connections(), " of ", database.connections_max(),
                                         " in use (limit of the ", database.connections_of(), ")");
  if (10 * left >= database.connections_max()) return Passed(kName, found);
  return Failed(kName, found,
                "raise max_connections of the server or the CONNECTION LIMIT of user or database, "
                "or close other clients; a controller opens at most 30");
}

// Returns how many events the standby had not applied at its newest report; 0 if unknown.
uint64_t EventsBehind(const v1::StandbyController& standby, uint64_t newest_event) {
  if (standby.position() == 0 || standby.position() >= newest_event) return 0;
  return newest_event - standby.position();
}

std::string LagText(const v1::StandbyController& standby, uint64_t newest_event) {
  if (standby.position() == 0 && newest_event > 0) return "has not read the log yet";
  const uint64_t behind = EventsBehind(standby, newest_event);
  if (behind == 0) return "is up to date";
  return absl::StrCat("is ", behind, behind == 1 ? " event" : " events", " behind");
}

v1::NodeCheck CheckLeader(const v1::GetServerInfoResponse& info) {
  const v1::Leadership& leadership = info.leadership();
  std::string found = absl::StrCat(
      leadership.leader(), " leads since ",
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixMillis(leadership.since_ms()),
                       absl::UTCTimeZone()),
      ", term ", leadership.term());
  for (const v1::StandbyController& standby : info.standbys()) {
    absl::StrAppend(&found, "; the standby ", standby.address(), " ",
                    LagText(standby, info.database().newest_event()));
  }
  return Passed("leader", std::move(found));
}

v1::NodeCheck CheckStandbys(const v1::GetServerInfoResponse& info) {
  constexpr char kName[] = "standbys";
  // Later reports are not read yet.
  const Timestamp read_ms = info.database().read_ms();
  std::string names;
  for (const v1::StandbyController& standby : info.standbys()) {
    if (!IsReady(standby, read_ms)) {
      return Failed(kName,
                    absl::StrCat(standby.address(), " last reported ",
                                 (read_ms - standby.seen_ms()) / 1000, " s ago"),
                    "start this controller again, or check its machine; if it was removed, this "
                    "check passes after an hour");
    }
    const uint64_t behind = EventsBehind(standby, info.database().newest_event());
    if (behind > kStandbyBehindMax) {
      return Failed(kName, absl::StrCat(standby.address(), " is ", behind, " events behind"),
                    "check the load of this controller's machine and its connection to the "
                    "database; it must read these events before it can lead");
    }
    absl::StrAppend(&names, names.empty() ? "" : ", ", standby.address());
  }
  return Passed(kName, names.empty() ? "none; this controller is alone" : names);
}

}  // namespace

bool IsReady(const v1::StandbyController& standby, Timestamp read_ms) {
  return read_ms - standby.seen_ms() <= kStandbySeenMaxMs;
}

bool SurvivesCrash(const v1::DatabaseStatus& database) {
  return database.fsync() && database.synchronous_commit() != "off";
}

std::vector<v1::NodeCheck> DatabaseChecks(const v1::GetServerInfoResponse& info) {
  if (!info.has_database()) return {};
  const v1::DatabaseStatus& database = info.database();
  std::vector<v1::NodeCheck> checks;
  // Before the first read, nothing is known.
  if (database.read_ms() == 0 && database.error().empty()) return checks;
  checks.push_back(CheckServer(database));
  if (!database.error().empty()) return checks;
  checks.push_back(CheckDurability(database));
  checks.push_back(CheckReplicas(database, !info.standbys().empty()));
  checks.push_back(CheckConnections(database));
  if (info.has_leadership()) checks.push_back(CheckLeader(info));
  checks.push_back(CheckStandbys(info));
  return checks;
}

std::vector<std::string> DatabaseWarnings(const v1::GetServerInfoResponse& info) {
  std::vector<std::string> warnings;
  for (const v1::NodeCheck& check : DatabaseChecks(info)) {
    if (check.ok()) continue;
    warnings.push_back(absl::StrCat("check \"", check.name(), "\" of the database: ", check.found(),
                                    "; ", check.advice()));
  }
  return warnings;
}

}  // namespace trainyard::controller
