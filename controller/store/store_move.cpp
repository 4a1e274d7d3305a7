#include "controller/store/store_move.h"

#include <stdlib.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "controller/store/files/backup.h"
#include "controller/store/files/data_directory.h"
#include "controller/store/files/moved_mark.h"
#include "controller/store/files/store_identity.h"
#include "controller/store/postgres/cluster_table.h"
#include "controller/store/postgres/leader_lease.h"
#include "controller/store/postgres/leader_table.h"
#include "controller/store/postgres/postgres_database.h"
#include "controller/store/postgres/postgres_leader_notes.h"
#include "controller/store/postgres/postgres_schema.h"
#include "controller/store/postgres/server_wait.h"
#include "controller/store/support/leader_notes.h"
#include "controller/store/transfer/postgres_side.h"
#include "controller/store/transfer/sqlite_side.h"
#include "controller/store/transfer/store_transfer.h"
#include "proto/support/durable_file.h"
#include "proto/support/remove_tree.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles = {"metrics.db", "logs.db", "events.db"};

// A schema that this process leads, so that no controller writes to it meanwhile.
struct LedSchema {
  std::unique_ptr<PostgresDatabase> database;
  std::unique_ptr<LeaderLease> lease;
  int64_t term = 0;
  ClusterRow cluster;
};

absl::StatusOr<LedSchema> Lead(const std::string& settings) {
  LedSchema schema;
  ServerWait wait(std::chrono::milliseconds(0), nullptr);
  TRAINYARD_ASSIGN_OR_RETURN(schema.database, wait.Connect(settings));
  TRAINYARD_RETURN_IF_ERROR(MigrateEvents(*schema.database));
  TRAINYARD_RETURN_IF_ERROR(MigrateTelemetry(*schema.database));
  TRAINYARD_ASSIGN_OR_RETURN(auto leadership, wait.Lead(settings, "trainyard server migrate"));
  schema.term = leadership->term();
  // If the lead is lost, the next transaction fails.
  schema.lease = std::make_unique<LeaderLease>(std::move(leadership), [](const absl::Status&) {});
  TRAINYARD_ASSIGN_OR_RETURN(schema.cluster, ReadCluster(*schema.database));
  return schema;
}

absl::Status WriteClusterRow(const ClusterRow& row, LedSchema& schema) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(schema.term, *schema.database));
  TRAINYARD_RETURN_IF_ERROR(WriteCluster(row, *schema.database));
  return transaction.Commit();
}

std::vector<MovedTable> Moved(const std::vector<CopiedTable>& copied) {
  std::vector<MovedTable> moved;
  for (const CopiedTable& table : copied) {
    moved.push_back({table.name, table.digest.rows, table.digest.hash});
  }
  return moved;
}

absl::StatusOr<std::string> ClusterOfFiles(const std::string& directory) {
  if (!fs::exists(directory + "/events.db")) {
    return absl::NotFoundError(absl::StrCat("there is no controller store in ", directory,
                                            "; set --data-dir to its data directory"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(directory + "/cluster_id"));
  return std::string(absl::StripAsciiWhitespace(text));
}

absl::Status NoStore(const PostgresDatabase& database) {
  return absl::NotFoundError(absl::StrCat(database.name(), ": the schema has no controller store"));
}

absl::StatusOr<std::string> MakeDirectoryIn(const std::string& directory) {
  std::string path = directory + "/moving-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", path));
  }
  return path;
}

absl::Status CopyClusterId(const std::string& from, const std::string& to) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string id, ReadSmallFile(from + "/cluster_id"));
  return WriteFileAtomically(to + "/cluster_id", id);
}

// The mark may be the one of an earlier, interrupted move to the same database.
absl::Status CheckNotMovedElsewhere(const std::string& directory, const std::string& target) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string moved_to, ReadMovedMark(directory));
  if (moved_to.empty() || moved_to == target) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the jobs of ", directory, " have already been moved to ", moved_to));
}

// An empty schema, the rest of an interrupted move, or jobs of this cluster that were moved away.
absl::Status CheckReplaceable(const LedSchema& schema, const std::string& cluster_id) {
  const ClusterRow& found = schema.cluster;
  if (found.id.empty() || (found.id == cluster_id && !found.moved_to.empty())) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(schema.database->name(), ": the schema already has the jobs of cluster ",
                   found.id, "; use a new schema (options='-c search_path=NAME') or database"));
}

// The files are obsolete if their jobs were moved away.
absl::Status CheckReplaceable(const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string moved_to, ReadMovedMark(directory));
  if (!moved_to.empty()) return absl::OkStatus();
  for (const char* name : kFiles) {
    if (!fs::exists(absl::StrCat(directory, "/", name))) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(directory, "/", name,
                     " already exists; move the store's files first, or set another "
                     "--data-dir"));
  }
  return absl::OkStatus();
}

absl::Status ReplaceFiles(const std::string& from, const std::string& to) {
  std::error_code error;
  for (const char* name : kFiles) {
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(absl::StrCat(to, "/", name, suffix));
    fs::rename(absl::StrCat(from, "/", name), absl::StrCat(to, "/", name), error);
    if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot rename ", name));
  }
  TRAINYARD_RETURN_IF_ERROR(SyncDirectoryOf(to + "/events.db"));
  return RemoveTree(from);
}

// Copies the schema into files in a new directory, and closes them.
absl::StatusOr<std::vector<CopiedTable>> CopyToFiles(const std::string& postgres,
                                                     const std::string& directory,
                                                     const std::string& cluster_id) {
  std::vector<CopiedTable> copied;
  {
    TRAINYARD_ASSIGN_OR_RETURN(const auto source, PostgresSide::ForReading(postgres));
    TRAINYARD_ASSIGN_OR_RETURN(const auto target, SqliteSide::Open(directory));
    TRAINYARD_ASSIGN_OR_RETURN(copied, TransferStores(*source, *target));
  }
  TRAINYARD_RETURN_IF_ERROR(BindStores(directory, cluster_id));
  return copied;
}

// Writes the positions of the hooks into the files that a controller on SQLite reads.
absl::Status CopyHookPositions(PostgresDatabase& database, const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows,
                             database.Query("SELECT name, text FROM leader_note"));
  const std::string folder = absl::StrCat(directory, "/", kHookFolder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot create ", folder));
  for (int i = 0; i < rows.size(); ++i) {
    const std::string note(rows.Bytes(i, 0));
    // The name of a hook contains no slash, so its file is inside the folder.
    if (!note.starts_with(kHookNote) || note.find('/') != std::string::npos) continue;
    const std::string hook = note.substr(std::string_view(kHookNote).size());
    TRAINYARD_RETURN_IF_ERROR(
        WriteFileAtomically(absl::StrCat(folder, "/", hook), rows.Bytes(i, 1)));
  }
  return absl::OkStatus();
}

// Writes the positions of the hooks into the notes that the next leader reads, on any machine.
absl::Status ShareHookPositions(const std::string& directory, LeaderNotes& notes) {
  std::error_code error;
  for (const fs::directory_entry& file :
       fs::directory_iterator(absl::StrCat(directory, "/", kHookFolder), error)) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::string position, ReadSmallFile(file.path()));
    const std::string hook = file.path().filename();
    TRAINYARD_RETURN_IF_ERROR(notes.Write(absl::StrCat(kHookNote, hook), position));
  }
  // Without hooks, there is no folder.
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<MovedTable>> MoveToPostgres(const StorePlaces& places) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string cluster_id, ClusterOfFiles(places.data_directory));
  TRAINYARD_ASSIGN_OR_RETURN(const auto directory, DataDirectory::Open(places.data_directory));
  TRAINYARD_RETURN_IF_ERROR(CheckNotHalfRestored(directory->path()));
  TRAINYARD_ASSIGN_OR_RETURN(LedSchema schema, Lead(places.postgres));
  TRAINYARD_RETURN_IF_ERROR(CheckNotMovedElsewhere(directory->path(), schema.database->name()));
  TRAINYARD_RETURN_IF_ERROR(CheckReplaceable(schema, cluster_id));
  std::vector<CopiedTable> copied;
  {
    TRAINYARD_ASSIGN_OR_RETURN(const auto source, SqliteSide::Open(directory->path()));
    TRAINYARD_ASSIGN_OR_RETURN(const auto target,
                               PostgresSide::ForWriting(places.postgres, schema.term));
    TRAINYARD_RETURN_IF_ERROR(target->RemoveRows());
    TRAINYARD_ASSIGN_OR_RETURN(copied, TransferStores(*source, *target));
    PostgresLeaderNotes notes(places.postgres, schema.term);
    TRAINYARD_RETURN_IF_ERROR(ShareHookPositions(directory->path(), notes));
  }
  // The source is closed to controllers before the target is opened to them.
  TRAINYARD_RETURN_IF_ERROR(WriteMovedMark(directory->path(), schema.database->name()));
  TRAINYARD_RETURN_IF_ERROR(WriteClusterRow({.id = cluster_id, .moved_to = ""}, schema));
  return Moved(copied);
}

absl::StatusOr<std::vector<MovedTable>> MoveToFiles(const StorePlaces& places) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto directory, DataDirectory::Open(places.data_directory));
  TRAINYARD_RETURN_IF_ERROR(CheckReplaceable(directory->path()));
  TRAINYARD_ASSIGN_OR_RETURN(LedSchema schema, Lead(places.postgres));
  const ClusterRow& found = schema.cluster;
  if (found.id.empty()) return NoStore(*schema.database);
  // The mark may be the one of an earlier, interrupted move to the same directory.
  if (!found.moved_to.empty() && found.moved_to != directory->path()) {
    return MovedAway(found, *schema.database);
  }
  TRAINYARD_RETURN_IF_ERROR(CopyHookPositions(*schema.database, directory->path()));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string partial, MakeDirectoryIn(directory->path()));
  auto copied = CopyToFiles(places.postgres, partial, found.id);
  if (!copied.ok()) {
    RemoveTree(partial).IgnoreError();
    return copied.status();
  }
  TRAINYARD_RETURN_IF_ERROR(
      WriteClusterRow({.id = found.id, .moved_to = directory->path()}, schema));
  TRAINYARD_RETURN_IF_ERROR(
      WriteFileAtomically(directory->path() + "/cluster_id", found.id + "\n"));
  TRAINYARD_RETURN_IF_ERROR(ReplaceFiles(partial, directory->path()));
  TRAINYARD_RETURN_IF_ERROR(RemoveMovedMark(directory->path()));
  return Moved(*copied);
}

absl::StatusOr<BackupSummary> BackUpPostgres(const std::string& postgres,
                                             const std::string& directory) {
  ServerWait wait(std::chrono::milliseconds(0), nullptr);
  TRAINYARD_ASSIGN_OR_RETURN(const auto database, wait.Connect(postgres));
  TRAINYARD_ASSIGN_OR_RETURN(const ClusterRow found, ReadCluster(*database));
  if (found.id.empty()) return NoStore(*database);
  if (!found.moved_to.empty()) return MovedAway(found, *database);
  return BackUpWith(directory, [&](const std::string& partial) -> absl::Status {
    TRAINYARD_RETURN_IF_ERROR(CopyToFiles(postgres, partial, found.id).status());
    return WriteFileAtomically(partial + "/cluster_id", found.id + "\n");
  });
}

absl::StatusOr<BackupSummary> RestoreToPostgres(const std::string& directory,
                                                const StorePlaces& places, int64_t now_ms) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto locked, DataDirectory::Open(places.data_directory));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string unpacked, MakeDirectoryIn(locked->path()));
  auto restored = Restore(directory, unpacked, now_ms);
  absl::Status status = restored.status();
  if (status.ok()) {
    status = MoveToPostgres({.data_directory = unpacked, .postgres = places.postgres}).status();
  }
  if (status.ok()) status = CopyClusterId(unpacked, locked->path());
  // The mark may name an event after the backup. The restored log records that events are missing.
  std::error_code error;
  if (status.ok()) fs::remove(absl::StrCat(locked->path(), "/", kLogMarkFile), error);
  RemoveTree(unpacked).IgnoreError();
  if (!status.ok()) return status;
  return restored;
}

}  // namespace trainyard::controller
