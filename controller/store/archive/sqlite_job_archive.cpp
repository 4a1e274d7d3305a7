#include "controller/store/archive/sqlite_job_archive.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/ledger/ledger.h"
#include "controller/store/archive/archive_order.h"
#include "controller/store/archive/archive_rows.h"

namespace trainyard::controller {

// `newest` is the negative job id. SQLite appends the primary key to each index. Therefore each
// index is sorted in one list order, and newer jobs come first among equals. Lists read only the
// narrow table archived_job; the record of a job is read only by id. Text searches use the column
// `sought`. archived_count avoids counting rows.
const char kArchiveSchema[] = R"(
  CREATE TABLE archived_job (
    newest INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    user TEXT NOT NULL,
    state INTEGER NOT NULL,
    ended_key REAL NOT NULL,
    progress_key REAL NOT NULL,
    request_id TEXT NOT NULL,
    sought TEXT NOT NULL
  ) STRICT;
  CREATE INDEX archived_by_name ON archived_job (name);
  CREATE INDEX archived_by_user ON archived_job (user);
  CREATE INDEX archived_by_state ON archived_job (state);
  CREATE INDEX archived_by_ended ON archived_job (ended_key);
  CREATE INDEX archived_by_progress ON archived_job (progress_key);
  CREATE INDEX archived_by_request ON archived_job (request_id) WHERE request_id != '';
  CREATE TABLE archived_record (
    newest INTEGER PRIMARY KEY,
    block BLOB NOT NULL
  ) STRICT;
  CREATE TABLE archived_count (
    user TEXT NOT NULL,
    state INTEGER NOT NULL,
    jobs INTEGER NOT NULL,
    PRIMARY KEY (user, state)
  ) STRICT, WITHOUT ROWID;
)";

// The table has no rows for jobs that older releases archived.
const char kArchiveTimeSchema[] = R"(
  CREATE TABLE archived_time (
    newest INTEGER PRIMARY KEY,
    block BLOB NOT NULL
  ) STRICT;
)";

namespace {

absl::Status InsertOne(const v1::ArchivedJob& archived, SqliteDatabase& writer) {
  const v1::Job& job = archived.job();
  const int64_t newest = -job.id();
  const auto key = [&](v1::JobOrder order) {
    return std::get<0>(PlaceOf(order, job, job.progress()));
  };
  TRAINYARD_RETURN_IF_ERROR(writer.Run(
      "INSERT INTO archived_job (newest, name, user, state, ended_key, progress_key, request_id, "
      "sought) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      newest, job.name(), job.user(), job.state(), key(v1::JOB_ORDER_ENDED),
      key(v1::JOB_ORDER_PROGRESS), archived.details().request_id(), SoughtText(job)));
  TRAINYARD_RETURN_IF_ERROR(StoreFigures(archived, newest, writer));
  const std::string block = SealRecord(archived);
  TRAINYARD_RETURN_IF_ERROR(writer.Run("INSERT INTO archived_record (newest, block) VALUES (?, ?)",
                                       newest, SqlBlob{block}));
  const std::string time = SealTime(job);
  TRAINYARD_RETURN_IF_ERROR(
      writer.Run("INSERT INTO archived_time (newest, block) VALUES (?, ?)", newest, SqlBlob{time}));
  return writer.Run(
      "INSERT INTO archived_count (user, state, jobs) VALUES (?, ?, 1) "
      "ON CONFLICT DO UPDATE SET jobs = jobs + 1",
      job.user(), job.state());
}

absl::Status DamagedJob(int64_t newest, const std::string& path) {
  return absl::DataLossError(
      absl::StrCat(path, ": the archived job ", -newest,
                   " is damaged; restore a backup with `trainyard server restore`"));
}

absl::StatusOr<v1::ArchivedJob> ReadRecord(int64_t newest, std::string_view block,
                                           const std::string& path) {
  std::optional<v1::ArchivedJob> job = OpenRecord(newest, block);
  if (!job.has_value()) return DamagedJob(newest, path);
  return *std::move(job);
}

absl::StatusOr<v1::JobTime> ReadTime(int64_t newest, std::string_view block,
                                     const std::string& path) {
  std::optional<v1::JobTime> time = OpenTime(newest, block);
  if (!time.has_value()) return DamagedJob(newest, path);
  return *std::move(time);
}

// Returns the record in the first row, or nothing if there is no row. Columns: newest, block.
JobArchive::Found FirstRecord(absl::StatusOr<SqliteQuery> query, const std::string& path) {
  if (!query.ok()) return query.status();
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
  if (!found) return std::nullopt;
  TRAINYARD_ASSIGN_OR_RETURN(v1::ArchivedJob job,
                             ReadRecord(query->Int64(0), query->Bytes(1), path));
  return job;
}

// Returns the clause that selects an index. If jobs are sorted by number (newest first), the index
// for a filter returns rows in that order as well.
std::string IndexClause(const v1::ListJobsRequest& request, bool has_state) {
  if (!request.name().empty()) return " INDEXED BY archived_by_name";
  if (const char* index = ColumnOf(request).index; index != nullptr) {
    return absl::StrCat(" INDEXED BY ", index);
  }
  if (!request.user().empty()) return " INDEXED BY archived_by_user";
  return has_state ? " INDEXED BY archived_by_state" : "";
}

// `state` 0 means any state. The arguments ?1 to ?4 are name, user, state and text. SQLite expects
// as many arguments as the highest number in the statement, so the clause always contains ?4.
std::string FilterClause(const v1::ListJobsRequest& request, int state) {
  std::string clause = "?4 IS NOT NULL";
  if (!request.name().empty()) clause += " AND name = ?1";
  if (!request.user().empty()) clause += " AND user = ?2";
  if (state != 0) clause += " AND state = ?3";
  if (!request.text().empty()) clause += " AND instr(sought, ?4) > 0";
  return clause;
}

bool OrdersByText(v1::JobOrder order) {
  return order == v1::JOB_ORDER_NAME || order == v1::JOB_ORDER_USER;
}

// A scan of an index over the jobs of one state or of all states.
class Walk {
 public:
  Walk(const v1::ListJobsRequest& request, int state)
      : request_(request), state_(state), text_(absl::AsciiStrToLower(request.text())) {}

  absl::StatusOr<std::vector<v1::ArchivedJob>> Read(const std::optional<JobPlace>& after, int limit,
                                                    SqliteDatabase& reader) const {
    const std::string sql = PageSql(after.has_value());
    const JobPlace from = after.value_or(JobPlace());
    const int64_t newest = std::get<2>(from);
    TRAINYARD_ASSIGN_OR_RETURN(
        SqliteQuery query, OrdersByText(request_.order())
                               ? reader.Query(sql, request_.name(), request_.user(), state_, text_,
                                              limit, newest, std::get<1>(from))
                               : reader.Query(sql, request_.name(), request_.user(), state_, text_,
                                              limit, newest, std::get<0>(from)));
    std::vector<v1::ArchivedJob> jobs;
    while (true) {
      TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
      if (!found) return jobs;
      TRAINYARD_ASSIGN_OR_RETURN(v1::ArchivedJob job,
                                 ReadRecord(query.Int64(0), query.Bytes(1), reader.path()));
      jobs.push_back(std::move(job));
    }
  }

  absl::StatusOr<int64_t> Count(SqliteDatabase& reader) const {
    const bool is_counted = request_.name().empty() && text_.empty();
    if (is_counted) {
      return reader.QueryInt64(
          "SELECT SUM(jobs) FROM archived_count WHERE (?1 = '' OR user = ?1) "
          "AND (?2 = 0 OR state = ?2)",
          request_.user(), state_);
    }
    return reader.QueryInt64(
        absl::StrCat("SELECT COUNT(*) FROM archived_job", IndexClause(request_, state_ != 0),
                     " WHERE ", FilterClause(request_, state_)),
        request_.name(), request_.user(), state_, text_);
  }

 private:
  std::string PageSql(bool has_after) const {
    const std::string column = ColumnOf(request_).column;
    const std::string key = column.empty() ? "newest" : absl::StrCat(column, ", newest");
    const std::string direction = request_.reverse() ? "DESC" : "ASC";
    std::string sql =
        absl::StrCat("SELECT page.newest, block FROM (SELECT newest FROM archived_job",
                     IndexClause(request_, state_ != 0), " WHERE ", FilterClause(request_, state_),
                     " AND ?7 IS NOT NULL");
    if (has_after) {
      absl::StrAppend(&sql, " AND (", key, ") ", request_.reverse() ? "<" : ">",
                      column.empty() ? " (?6)" : " (?7, ?6)");
    }
    absl::StrAppend(&sql, " ORDER BY ");
    if (!column.empty()) absl::StrAppend(&sql, column, " ", direction, ", ");
    absl::StrAppend(&sql, "newest ", direction, " LIMIT ?5) AS page CROSS JOIN archived_record AS ",
                    "record ON record.newest = page.newest");
    return sql;
  }

  const v1::ListJobsRequest& request_;
  const int state_;
  const std::string text_;
};

// Columns of `query`: newest, ended_key (the negative end time).
absl::StatusOr<std::vector<ArchivedEnd>> ReadEnds(absl::StatusOr<SqliteQuery> query) {
  if (!query.ok()) return query.status();
  std::vector<ArchivedEnd> ends;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found) return ends;
    ends.push_back({-query->Int64(0), -query->Int64(1)});
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteJobArchive>> SqliteJobArchive::Open(SqliteDatabase& writer) {
  TRAINYARD_RETURN_IF_ERROR(FillFigures(writer));
  std::unique_ptr<SqliteJobArchive> archive(new SqliteJobArchive(writer.path()));
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      writer.Query("SELECT state, SUM(jobs) FROM archived_count GROUP BY state"));
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) return archive;
    archive->counts_[static_cast<v1::JobState>(query.Int64(0))] = query.Int64(1);
  }
}

absl::Status SqliteJobArchive::Insert(const std::vector<v1::ArchivedJob>& jobs,
                                      SqliteDatabase& writer, Changes& changes) {
  for (const v1::ArchivedJob& job : jobs) {
    TRAINYARD_RETURN_IF_ERROR(InsertOne(job, writer));
    ++changes[job.job().state()];
  }
  return absl::OkStatus();
}

absl::Status SqliteJobArchive::Remove(int64_t job_id, SqliteDatabase& writer, Changes& changes) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t state,
      writer.QueryInt64("SELECT state FROM archived_job WHERE newest = ?", -job_id));
  if (state == v1::JOB_STATE_UNSPECIFIED) return absl::OkStatus();
  TRAINYARD_RETURN_IF_ERROR(
      writer.Run("UPDATE archived_count SET jobs = jobs - 1 WHERE (user, state) = "
                 "(SELECT user, state FROM archived_job WHERE newest = ?)",
                 -job_id));
  TRAINYARD_RETURN_IF_ERROR(writer.Run("DELETE FROM archived_count WHERE jobs = 0"));
  TRAINYARD_RETURN_IF_ERROR(writer.Run("DELETE FROM archived_job WHERE newest = ?", -job_id));
  TRAINYARD_RETURN_IF_ERROR(writer.Run("DELETE FROM archived_time WHERE newest = ?", -job_id));
  --changes[static_cast<v1::JobState>(state)];
  return writer.Run("DELETE FROM archived_record WHERE newest = ?", -job_id);
}

void SqliteJobArchive::CountCommitted(const Changes& changes) {
  const std::lock_guard lock(mutex_);
  for (const auto& [state, change] : changes) {
    if ((counts_[state] += change) == 0) counts_.erase(state);
  }
}

bool SqliteJobArchive::HasJobs() const {
  const std::lock_guard lock(mutex_);
  return !counts_.empty();
}

std::map<v1::JobState, int64_t> SqliteJobArchive::CountByState() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

JobArchive::Found SqliteJobArchive::Find(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return FirstRecord(
      reader->Query("SELECT newest, block FROM archived_record WHERE newest = ?", -job_id),
      reader->path());
}

JobArchive::Found SqliteJobArchive::FindByName(const std::string& name) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return FirstRecord(
      reader->Query("SELECT newest, block FROM archived_record WHERE newest = "
                    "(SELECT newest FROM archived_job WHERE name = ? ORDER BY newest LIMIT 1)",
                    name),
      reader->path());
}

JobArchive::Found SqliteJobArchive::FindByRequestId(const std::string& request_id) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return FirstRecord(
      reader->Query("SELECT newest, block FROM archived_record WHERE newest = "
                    "(SELECT newest FROM archived_job WHERE request_id = ? AND request_id != '')",
                    request_id),
      reader->path());
}

absl::StatusOr<ArchivedPage> SqliteJobArchive::List(const v1::ListJobsRequest& request,
                                                    const std::optional<JobPlace>& after,
                                                    int limit) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginRead(*reader));
  ArchivedPage page;
  for (const int state : StatesOf(request)) {
    const Walk walk(request, state);
    TRAINYARD_ASSIGN_OR_RETURN(auto jobs, walk.Read(after, limit, *reader));
    TRAINYARD_ASSIGN_OR_RETURN(const int64_t count, walk.Count(*reader));
    std::ranges::move(jobs, std::back_inserter(page.jobs));
    page.total += count;
  }
  SortPage(request, limit, page.jobs);
  return page;
}

absl::Status SqliteJobArchive::ForEachTime(int64_t since_ms,
                                           const std::function<void(const v1::JobTime&)>& visit) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(
      SqliteQuery query,
      reader->Query("SELECT job.newest, IFNULL(time.block, x''), CASE WHEN time.block IS NULL THEN "
                    "record.block ELSE x'' END FROM archived_job AS job INDEXED BY "
                    "archived_by_ended LEFT JOIN archived_time AS time ON time.newest = "
                    "job.newest LEFT JOIN archived_record AS record ON time.block IS NULL AND "
                    "record.newest = job.newest WHERE job.ended_key <= ? ORDER BY job.ended_key",
                    -static_cast<double>(since_ms)));
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
    if (!found) return absl::OkStatus();
    const int64_t newest = query.Int64(0);
    if (!query.Bytes(1).empty()) {
      TRAINYARD_ASSIGN_OR_RETURN(const v1::JobTime time,
                                 ReadTime(newest, query.Bytes(1), reader->path()));
      visit(time);
      continue;
    }
    TRAINYARD_ASSIGN_OR_RETURN(const v1::ArchivedJob archived,
                               ReadRecord(newest, query.Bytes(2), reader->path()));
    visit(JobTimeOf(archived.job(), archived.job().ended_time_ms()));
  }
}

absl::StatusOr<std::vector<ArchivedEnd>> SqliteJobArchive::EndedBy(int64_t ended_ms, int limit) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return ReadEnds(
      reader->Query("SELECT newest, ended_key FROM archived_job WHERE ended_key >= ? ORDER BY "
                    "ended_key DESC, newest DESC LIMIT ?",
                    -static_cast<double>(ended_ms), limit));
}

absl::StatusOr<std::vector<ArchivedEnd>> SqliteJobArchive::EndsOf(
    const std::vector<int64_t>& job_ids) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  std::vector<int64_t> keys;
  for (const int64_t id : job_ids) keys.push_back(-id);
  return ReadEnds(reader->Query(absl::StrCat("SELECT newest, ended_key FROM archived_job WHERE ",
                                             "newest IN (", absl::StrJoin(keys, ","), ")")));
}

}  // namespace trainyard::controller
