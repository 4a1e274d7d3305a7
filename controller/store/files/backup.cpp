#include "controller/store/files/backup.h"

#include <fcntl.h>
#include <pwd.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/events/sqlite_event_log.h"
#include "controller/store/files/data_directory.h"
#include "controller/store/files/moved_mark.h"
#include "controller/store/sqlite/page_check.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "controller/store/support/checksum.h"
#include "proto/files/durable_file.h"
#include "proto/files/unique_fd.h"
#include "proto/support/durable_file.h"
#include "proto/support/remove_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;

constexpr char kListFile[] = "backup";
constexpr char kListHeader[] = "trainyard backup 1";
constexpr char kClusterIdFile[] = "cluster_id";
constexpr char kMarkFile[] = "RESTORING";
// The order in which a backup opens the databases and a restore writes them. The event log must be
// last.
constexpr std::array kDatabases = {"metrics.db", "logs.db", "events.db"};
constexpr std::size_t kCopyBytes = std::size_t{1} << 20;
// After a restore, the controller skips job ids and attempt numbers that may have been assigned
// between the backup and the loss of the disk. It skips a fixed count plus a count for each second
// since the newest event in the backup. The second part keeps two restores of the same backup from
// assigning the same numbers.
constexpr int64_t kSkippedJobIds = 10'000;
constexpr int64_t kSkippedJobIdsPerSecond = 100;
constexpr int64_t kSkippedAttempts = 1'000;
constexpr int64_t kSkippedAttemptsPerSecond = 1;

struct ListedFile {
  std::string name;
  int64_t bytes = 0;
  uint64_t checksum = 0;
};

absl::Status FileProblem(int error, absl::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(error, absl::StrCat("cannot ", what, " ", path));
}

// Returns PERMISSION_DENIED if the data directory belongs to another user. A controller of the
// owner could not open files that this user creates there.
absl::Status CheckOwner(const std::string& data_directory) {
  struct stat info {};
  if (stat(data_directory.c_str(), &info) != 0 || info.st_uid == geteuid()) {
    return absl::OkStatus();
  }
  const passwd* owner = getpwuid(info.st_uid);
  const std::string name =
      owner == nullptr ? absl::StrCat("#", info.st_uid) : std::string(owner->pw_name);
  return absl::PermissionDeniedError(absl::StrCat(data_directory, " belongs to user ", name,
                                                  "; run this command as that user: sudo -u ", name,
                                                  " ..."));
}

UniqueFd OpenFile(const std::string& path, int flags) {
  return UniqueFd(open(path.c_str(), flags | O_CLOEXEC, 0600));
}

// Syncs a directory, or a file that its writer has already closed.
absl::Status Sync(const std::string& path) {
  const UniqueFd file = OpenFile(path, O_RDONLY);
  if (!file.valid() || fsync(file.get()) != 0) return FileProblem(errno, "sync", path);
  return absl::OkStatus();
}

// Reads a file and passes it to `take` piece by piece. Returns the file's size and a checksum that
// is computed over the pieces.
template <typename Take>
absl::StatusOr<ListedFile> ReadFile(const std::string& path, const Take& take) {
  const UniqueFd file = OpenFile(path, O_RDONLY);
  if (!file.valid()) return FileProblem(errno, "open", path);
  ListedFile read{.name = fs::path(path).filename().string()};
  std::string buffer(kCopyBytes, '\0');
  while (true) {
    const ssize_t count =
        pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(read.bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileProblem(errno, "read", path);
    if (count == 0) return read;
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(count));
    // A read of a regular file is short only at the end of the file. Therefore every pass reads the
    // same pieces and computes the same checksum.
    read.checksum = Checksum(piece, read.checksum);
    read.bytes += count;
    TRAINYARD_RETURN_IF_ERROR(take(piece));
  }
}

absl::StatusOr<ListedFile> Measure(const std::string& path) {
  return ReadFile(path, [](std::string_view) { return absl::OkStatus(); });
}

absl::StatusOr<ListedFile> CopyDurably(const std::string& from, const std::string& to) {
  DurableFile out;
  TRAINYARD_RETURN_IF_ERROR(ToStatus(out.Create(to, {.mode = 0600, .follow_links = true})));
  TRAINYARD_ASSIGN_OR_RETURN(ListedFile copied, ReadFile(from, [&](std::string_view piece) {
                               return ToStatus(out.Append(piece));
                             }));
  TRAINYARD_RETURN_IF_ERROR(ToStatus(out.Finish()));
  return copied;
}

// ---- Backup

// A database with an open read transaction, which keeps the view of the data unchanged.
struct PinnedDatabase {
  std::unique_ptr<SqliteDatabase> database;
  std::optional<SqliteTransaction> view;
};

absl::StatusOr<PinnedDatabase> Pin(const std::string& path) {
  PinnedDatabase pinned;
  TRAINYARD_ASSIGN_OR_RETURN(pinned.database,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kReader));
  TRAINYARD_ASSIGN_OR_RETURN(auto view, SqliteTransaction::BeginRead(*pinned.database));
  pinned.view.emplace(std::move(view));
  // Run a statement now, because SQLite fixes a read transaction's view at its first statement.
  TRAINYARD_RETURN_IF_ERROR(
      pinned.database->QueryInt64("SELECT COUNT(*) FROM sqlite_schema").status());
  return pinned;
}

// True if the database's pages reserve bytes for checksums.
bool HasPageChecks(SqliteDatabase& database) {
  int bytes = -1;
  sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
  return bytes > 0;
}

// Returns true if the failed copy shows that the source is damaged. Only the source can be damaged,
// because the pages of the copy were just written. `code` is the error of the copy.
bool MeansDamage(int code) {
  const int primary = code & 0xff;
  return code == SQLITE_IOERR_DATA || primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

struct CloseDatabase {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};

absl::Status CopyPages(SqliteDatabase& source, const std::string& path) {
  // Create the file here, because SQLite would create a file that every user can read.
  if (!OpenFile(path, O_WRONLY | O_CREAT | O_EXCL).valid()) {
    return FileProblem(errno, "create", path);
  }
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &opened,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX,
      PageCheckVfs());
  const std::unique_ptr<sqlite3, CloseDatabase> target(opened);
  if (code != SQLITE_OK) return SqliteError(path, opened, code, "make a copy");
  // Write page 1 before the copy starts, because its header states whether pages have checksums.
  if (HasPageChecks(source)) EnablePageChecks(opened);
  constexpr char kMakeFirstPage[] = "PRAGMA synchronous = FULL; CREATE TABLE t (a); DROP TABLE t;";
  if (sqlite3_exec(opened, kMakeFirstPage, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return SqliteError(path, opened, sqlite3_extended_errcode(opened), "make a copy");
  }
  sqlite3_backup* copy = sqlite3_backup_init(opened, "main", source.handle(), "main");
  if (copy == nullptr) {
    return SqliteError(path, opened, sqlite3_extended_errcode(opened), "make a copy");
  }
  sqlite3_backup_step(copy, -1);
  const int copied = sqlite3_backup_finish(copy);
  if (copied == SQLITE_OK) return absl::OkStatus();
  return MeansDamage(copied) ? SqliteError(source.path(), source.handle(), copied, "copy it")
                             : SqliteError(path, opened, copied, "make a copy");
}

// Verifies the copy by reading every page.
absl::Status VerifyDatabase(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto database,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kReader));
  TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery check, database->Query("PRAGMA quick_check(1)"));
  TRAINYARD_ASSIGN_OR_RETURN(const bool answered, check.Next());
  if (answered && check.Bytes(0) == "ok") return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, " is damaged: ", std::string(check.Bytes(0))));
}

// Merges the write-ahead log of a copy into the database file, so that one checksum covers the
// whole copy. This is safe because nothing else writes to a copy.
absl::Status FoldLogIntoDatabase(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto database,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kWriter));
  return database->RunScript("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
}

absl::StatusOr<uint64_t> VerifyEventLog(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto log, SqliteEventLog::Open(path));
  TRAINYARD_ASSIGN_OR_RETURN(const EventLog::Recovery recovery, log->Recover());
  return recovery.last_sequence;
}

absl::Status WriteList(const std::string& directory, const std::vector<ListedFile>& files) {
  std::string text = absl::StrCat(kListHeader, "\n");
  for (const ListedFile& file : files) {
    absl::StrAppend(&text, file.name, " ", file.bytes, " ", absl::Hex(file.checksum), "\n");
  }
  const std::string path = absl::StrCat(directory, "/", kListFile);
  TRAINYARD_RETURN_IF_ERROR(ToStatus(WriteFileDurably(path, {text}, {.mode = 0600})));
  return Sync(directory);
}

// Returns OK if the directory is empty or does not exist.
absl::Status CheckTarget(const std::string& directory) {
  std::error_code error;
  if (!fs::exists(directory, error) || fs::is_empty(directory, error)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(directory, " is not empty; choose a directory that does not exist yet"));
}

absl::StatusOr<std::string> Absolute(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (error || path.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("`", path, "` is not a path"));
  }
  return absolute.has_filename() ? absolute.string() : absolute.parent_path().string();
}

// The directory in which a backup is built. The directory is renamed to its final name when the
// backup is complete. The destructor removes it if it has not been renamed.
class PartialDirectory {
 public:
  static absl::StatusOr<PartialDirectory> Beside(const std::string& directory) {
    std::error_code error;
    fs::create_directories(fs::path(directory).parent_path(), error);
    if (error) return FileProblem(error.value(), "create the parent of", directory);
    // The name is unique, so that the destructor cannot remove an existing directory.
    std::string path = directory + ".partial-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return FileProblem(errno, "create", path);
    return PartialDirectory(std::move(path));
  }
  PartialDirectory(PartialDirectory&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  PartialDirectory& operator=(PartialDirectory&&) = delete;
  ~PartialDirectory() {
    if (!path_.empty()) RemoveTree(path_).IgnoreError();
  }
  const std::string& path() const { return path_; }

 private:
  explicit PartialDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

absl::Status CopyStore(const std::string& data_directory, const std::string& partial) {
  std::vector<PinnedDatabase> pinned;
  for (const char* name : kDatabases) {
    TRAINYARD_ASSIGN_OR_RETURN(PinnedDatabase one, Pin(absl::StrCat(data_directory, "/", name)));
    pinned.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < kDatabases.size(); ++i) {
    const std::string path = absl::StrCat(partial, "/", kDatabases[i]);
    TRAINYARD_RETURN_IF_ERROR(CopyPages(*pinned[i].database, path));
    // While the view exists, the source's write-ahead log cannot be truncated. Release the view
    // early.
    pinned[i].view.reset();
    pinned[i].database.reset();
  }
  const std::string cluster_id = absl::StrCat(data_directory, "/", kClusterIdFile);
  if (!fs::exists(cluster_id)) return absl::OkStatus();
  return CopyDurably(cluster_id, absl::StrCat(partial, "/", kClusterIdFile)).status();
}

// Verifies the copied databases and returns the list of all files.
absl::StatusOr<std::vector<ListedFile>> VerifyCopy(const std::string& partial,
                                                   BackupSummary& summary) {
  for (const char* name : kDatabases) {
    const std::string path = absl::StrCat(partial, "/", name);
    TRAINYARD_RETURN_IF_ERROR(FoldLogIntoDatabase(path));
    TRAINYARD_RETURN_IF_ERROR(VerifyDatabase(path));
  }
  TRAINYARD_ASSIGN_OR_RETURN(summary.last_sequence, VerifyEventLog(partial + "/events.db"));
  std::vector<ListedFile> files;
  const std::string cluster_id = absl::StrCat(partial, "/", kClusterIdFile);
  if (fs::exists(cluster_id)) {
    TRAINYARD_ASSIGN_OR_RETURN(ListedFile file, Measure(cluster_id));
    files.push_back(std::move(file));
  }
  for (const char* name : kDatabases) {
    const std::string path = absl::StrCat(partial, "/", name);
    TRAINYARD_RETURN_IF_ERROR(FoldLogIntoDatabase(path));
    TRAINYARD_RETURN_IF_ERROR(Sync(path));
    TRAINYARD_ASSIGN_OR_RETURN(ListedFile file, Measure(path));
    summary.bytes += file.bytes;
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

absl::StatusOr<BackupSummary> BackUpWith(const std::string& directory, const FillBackup& fill) {
  BackupSummary summary;
  TRAINYARD_ASSIGN_OR_RETURN(summary.directory, Absolute(directory));
  TRAINYARD_RETURN_IF_ERROR(CheckTarget(summary.directory));
  TRAINYARD_ASSIGN_OR_RETURN(const PartialDirectory made,
                             PartialDirectory::Beside(summary.directory));
  const std::string& partial = made.path();
  TRAINYARD_RETURN_IF_ERROR(fill(partial));
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<ListedFile> files, VerifyCopy(partial, summary));
  TRAINYARD_RETURN_IF_ERROR(WriteList(partial, files));
  std::error_code error;
  fs::rename(partial, summary.directory, error);
  if (error) return FileProblem(error.value(), "rename", partial);
  TRAINYARD_RETURN_IF_ERROR(Sync(fs::path(summary.directory).parent_path().string()));
  return summary;
}

absl::StatusOr<BackupSummary> BackUp(const std::string& data_directory,
                                     const std::string& directory) {
  if (!fs::exists(data_directory + "/events.db")) {
    return absl::NotFoundError(
        absl::StrCat("there is no controller store in ", data_directory,
                     "; set --data-dir to its data directory, or for a store in "
                     "PostgreSQL pass --postgres or --config"));
  }
  TRAINYARD_RETURN_IF_ERROR(CheckOwner(data_directory));
  TRAINYARD_RETURN_IF_ERROR(CheckNotHalfRestored(data_directory));
  TRAINYARD_RETURN_IF_ERROR(CheckNotMoved(data_directory));
  return BackUpWith(directory,
                    [&](const std::string& partial) { return CopyStore(data_directory, partial); });
}

// ---- Restore

namespace {

absl::StatusOr<std::vector<ListedFile>> ReadList(const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/", kListFile);
  std::ifstream in(path);
  std::string line;
  if (!in.is_open()) {
    return absl::NotFoundError(absl::StrCat(directory, " is not a backup: it has no file `",
                                            kListFile,
                                            "`; `trainyard server backup DIR` creates a backup"));
  }
  if (!std::getline(in, line) || line != kListHeader) {
    return absl::DataLossError(
        absl::StrCat(path, " is not a backup list that this release can read"));
  }
  std::vector<ListedFile> files;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    ListedFile& file = files.emplace_back();
    words >> file.name >> file.bytes >> std::hex >> file.checksum;
    // Reject a file name that leads out of the directory.
    if (!words || file.name.find('/') != std::string::npos) {
      return absl::DataLossError(absl::StrCat(path, " is damaged at `", line, "`"));
    }
  }
  return files;
}

absl::StatusOr<std::vector<ListedFile>> VerifyBackup(const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<ListedFile> files, ReadList(directory));
  for (const char* name : kDatabases) {
    const bool listed = std::any_of(files.begin(), files.end(),
                                    [&](const ListedFile& file) { return file.name == name; });
    if (!listed) {
      return absl::DataLossError(
          absl::StrCat(directory, " is incomplete: its list does not contain ", name));
    }
  }
  for (const ListedFile& listed : files) {
    const std::string path = absl::StrCat(directory, "/", listed.name);
    TRAINYARD_ASSIGN_OR_RETURN(const ListedFile found, Measure(path));
    if (found.bytes == listed.bytes && found.checksum == listed.checksum) continue;
    return absl::DataLossError(absl::StrCat(path, " is damaged: it has ", found.bytes, " of ",
                                            listed.bytes, " bytes, and checksum ",
                                            absl::Hex(found.checksum), " instead of ",
                                            absl::Hex(listed.checksum), "; use another backup"));
  }
  return files;
}

absl::Status CheckNoStore(const std::string& data_directory) {
  for (const char* name : kDatabases) {
    for (const char* suffix : {"", "-wal"}) {
      const std::string path = absl::StrCat(data_directory, "/", name, suffix);
      if (!fs::exists(path)) continue;
      return absl::AlreadyExistsError(
          absl::StrCat(path,
                       " already exists; restore does not overwrite. Move the store's files (*.db, "
                       "*.db-wal, *.db-shm) first, or set another --data-dir"));
    }
  }
  return absl::OkStatus();
}

// Deletes the store marks (store_mark.h) from the restored event log. A backup opens its view of
// the event log last, so the marks may be newer than the copies of the other stores.
absl::Status ForgetStoreMarks(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto database,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kWriter));
  return database->Run("DELETE FROM store_mark");
}

// Skips the job ids and attempt numbers that may have been assigned after the backup was made.
// Workers and checkpoint directories may still contain these numbers.
absl::StatusOr<uint64_t> SkipNumbers(const std::string& path, int64_t now_ms) {
  TRAINYARD_ASSIGN_OR_RETURN(auto log, SqliteEventLog::Open(path));
  TRAINYARD_RETURN_IF_ERROR(ForgetStoreMarks(path));
  TRAINYARD_ASSIGN_OR_RETURN(const auto newest, log->ReadEventsBefore(0, 0, 1));
  const int64_t newest_ms = newest.empty() ? now_ms : newest.front().event().time_ms();
  const int64_t seconds = std::max<int64_t>(0, now_ms - newest_ms) / 1000;
  v1::Event event;
  event.set_time_ms(now_ms);
  event.set_actor("controller");
  v1::StoreRestored& restored = *event.mutable_store_restored();
  restored.set_skipped_job_ids(kSkippedJobIds + seconds * kSkippedJobIdsPerSecond);
  restored.set_skipped_attempts(kSkippedAttempts + seconds * kSkippedAttemptsPerSecond);
  TRAINYARD_RETURN_IF_ERROR(log->Append({event}));
  TRAINYARD_ASSIGN_OR_RETURN(const EventLog::Recovery recovery, log->Recover());
  return recovery.last_sequence;
}

}  // namespace

absl::StatusOr<BackupSummary> Restore(const std::string& directory,
                                      const std::string& data_directory, int64_t now_ms) {
  BackupSummary summary;
  TRAINYARD_ASSIGN_OR_RETURN(summary.directory, Absolute(directory));
  TRAINYARD_RETURN_IF_ERROR(CheckOwner(data_directory));
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<ListedFile> files, VerifyBackup(summary.directory));
  TRAINYARD_ASSIGN_OR_RETURN(const auto locked, DataDirectory::Open(data_directory));
  const std::string mark = absl::StrCat(locked->path(), "/", kMarkFile);
  if (!fs::exists(mark)) {
    TRAINYARD_RETURN_IF_ERROR(CheckNoStore(locked->path()));
    const UniqueFd made = OpenFile(mark, O_WRONLY | O_CREAT);
    if (!made.valid()) return FileProblem(errno, "create", mark);
    TRAINYARD_RETURN_IF_ERROR(Sync(locked->path()));
  }
  std::error_code error;
  for (const char* name : kDatabases) {
    for (const char* suffix : {"-wal", "-shm"}) {
      fs::remove(absl::StrCat(locked->path(), "/", name, suffix), error);
    }
  }
  for (const ListedFile& file : files) {
    TRAINYARD_ASSIGN_OR_RETURN(const ListedFile copied,
                               CopyDurably(absl::StrCat(summary.directory, "/", file.name),
                                           absl::StrCat(locked->path(), "/", file.name)));
    if (copied.checksum != file.checksum) {
      return absl::DataLossError(absl::StrCat(file.name, " changed while it was read"));
    }
    summary.bytes += copied.bytes;
  }
  TRAINYARD_ASSIGN_OR_RETURN(summary.last_sequence,
                             SkipNumbers(locked->path() + "/events.db", now_ms));
  fs::remove(mark, error);
  if (error) return FileProblem(error.value(), "remove", mark);
  TRAINYARD_RETURN_IF_ERROR(Sync(locked->path()));
  return summary;
}

absl::Status CheckNotHalfRestored(const std::string& data_directory) {
  if (!fs::exists(absl::StrCat(data_directory, "/", kMarkFile))) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "a restore into ", data_directory, " was interrupted; run `trainyard server restore` again"));
}

}  // namespace trainyard::controller
