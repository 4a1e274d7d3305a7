#include "cli/output/cluster/database_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {
namespace {

// Output contains text that the database server and its replicas have chosen.
void PrintReplica(const v1::DatabaseReplica& replica, std::ostream& out) {
  out << "  replica      " << OneLine(replica.name().empty() ? "(no name)" : replica.name());
  if (!replica.address().empty()) out << " at " << OneLine(replica.address());
  out << ": " << OneLine(replica.state()) << ", " << OneLine(replica.sync_state()) << ", "
      << BytesText(replica.behind_bytes()) << " behind";
  if (replica.lag_ms() > 0) out << " (" << replica.lag_ms() << " ms)";
  out << "\n";
}

// Returns how far the standby was behind the log at its newest report; empty if unknown.
std::string LagOf(const v1::StandbyController& standby, uint64_t newest_event) {
  if (standby.position() == 0 || newest_event == 0) return "";
  if (standby.position() >= newest_event) return ", up to date";
  return absl::StrCat(", ", newest_event - standby.position(), " events behind");
}

std::string WaitsText(const v1::DatabaseStatus& database) {
  return database.synchronous_standby_names().empty()
             ? "commits wait for no replica"
             : absl::StrCat("commits wait for replicas: ",
                            OneLine(database.synchronous_standby_names()));
}

void PrintServer(const v1::DatabaseStatus& database, Timestamp now, std::ostream& out) {
  out << "  database     " << OneLine(database.kind()) << " " << OneLine(database.version()) << ": "
      << OneLine(database.database()) << " on " << OneLine(database.host()) << ", schema "
      << OneLine(database.schema()) << ", " << BytesText(database.size_bytes());
  if (database.read_only()) out << ", READ-ONLY";
  if (!database.error().empty()) out << " (" << AgoText(database.read_ms(), now) << ")";
  out << "\n  durability   synchronous_commit is " << OneLine(database.synchronous_commit())
      << (database.fsync() ? "" : ", FSYNC IS OFF") << "; " << WaitsText(database)
      << "\n  connections  " << database.connections() << " of " << database.connections_max()
      << " in use (limit of the " << OneLine(database.connections_of()) << ")\n";
  if (!database.replicas_readable() && !database.replicas().empty()) {
    out << "  replicas     " << database.replicas_size()
        << " (grant pg_read_all_stats to the controller's user to see their delay)\n";
    return;
  }
  for (const v1::DatabaseReplica& replica : database.replicas()) PrintReplica(replica, out);
}

}  // namespace

void PrintDatabase(const v1::GetServerInfoResponse& info, const std::vector<std::string>& shown,
                   Timestamp now, std::ostream& out) {
  for (const v1::StandbyController& standby : info.standbys()) {
    if (std::ranges::find(shown, standby.address()) != shown.end()) continue;
    out << "  standby      " << OneLine(standby.address()) << ": release "
        << OneLine(standby.version()) << ", reported " << AgoText(standby.seen_ms(), now)
        << LagOf(standby, info.database().newest_event()) << "\n";
  }
  if (!info.has_database()) return;
  if (!info.database().error().empty()) {
    out << "  database     CANNOT BE READ: " << OneLine(info.database().error()) << "\n";
  }
  if (info.database().read_ms() > 0) PrintServer(info.database(), now, out);
}

}  // namespace trainyard::cli
