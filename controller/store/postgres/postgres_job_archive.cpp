#include "controller/store/postgres/postgres_job_archive.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "controller/store/archive/archive_order.h"
#include "controller/store/archive/archive_rows.h"

namespace trainyard::controller {
namespace {

// The number of jobs in memory during a scan of all times.
constexpr int kTimesAtOnce = 512;

absl::Status DamagedJob(int64_t newest, const PostgresDatabase& database) {
  return absl::DataLossError(absl::StrCat(database.name(), ": the archived job ", -newest,
                                          " is damaged; restore a backup of the database"));
}

absl::Status InsertOne(const v1::ArchivedJob& archived, PostgresDatabase& writer) {
  const v1::Job& job = archived.job();
  const int64_t newest = -job.id();
  const auto key = [&](v1::JobOrder order) {
    return std::get<0>(PlaceOf(order, job, job.progress()));
  };
  const auto [loss, best_loss, rate, slots, restarts] = FigureKeysOf(job);
  TRAINYARD_RETURN_IF_ERROR(writer.Run(
      "INSERT INTO archived_job (newest, name, user_name, state, ended_key, progress_key, "
      "loss_key, best_loss_key, rate_key, slots_key, restarts_key, request_id, sought) VALUES "
      "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
      newest, job.name(), job.user(), job.state(), key(v1::JOB_ORDER_ENDED),
      key(v1::JOB_ORDER_PROGRESS), loss, best_loss, rate, slots, restarts,
      archived.details().request_id(), SoughtText(job)));
  TRAINYARD_RETURN_IF_ERROR(writer.Run("INSERT INTO archived_record VALUES ($1, $2, $3)", newest,
                                       SealRecord(archived), SealTime(job)));
  return writer.Run(
      "INSERT INTO archived_count (user_name, state, jobs) VALUES ($1, $2, 1) "
      "ON CONFLICT (user_name, state) DO UPDATE SET jobs = archived_count.jobs + 1",
      job.user(), job.state());
}

// Columns: newest, block.
absl::StatusOr<std::vector<v1::ArchivedJob>> ReadRecords(absl::StatusOr<PostgresRows> rows,
                                                         const PostgresDatabase& database) {
  if (!rows.ok()) return rows.status();
  std::vector<v1::ArchivedJob> jobs;
  for (int row = 0; row < rows->size(); ++row) {
    const int64_t newest = rows->Int64(row, 0);
    std::optional<v1::ArchivedJob> job = OpenRecord(newest, rows->Bytes(row, 1));
    if (!job.has_value()) return DamagedJob(newest, database);
    jobs.push_back(*std::move(job));
  }
  return jobs;
}

JobArchive::Found FirstRecord(absl::StatusOr<PostgresRows> rows, const PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(auto jobs, ReadRecords(std::move(rows), database));
  if (jobs.empty()) return std::nullopt;
  return std::move(jobs.front());
}

// The sort key of a list without `newest`, and the cast of the argument that it is compared with.
// The column is empty if jobs are sorted only by number.
struct SortKey {
  std::string column;
  const char* type;
};

SortKey SortKeyOf(const v1::ListJobsRequest& request) {
  switch (request.order()) {
    case v1::JOB_ORDER_NAME:
      return {"name", "bytea"};
    case v1::JOB_ORDER_USER:
      return {"user_name", "bytea"};
    case v1::JOB_ORDER_STATE:
      return {"state", "bigint"};
    default:
      break;
  }
  const std::string column = ColumnOf(request).column;
  if (column.empty()) return {"", ""};
  return {absl::StrCat("(", column, ")::double precision"), "double precision"};
}

// `state` 0 means any state. The arguments $1 to $4 are name, user, state and text.
std::string FilterClause(const v1::ListJobsRequest& request, int state) {
  std::string clause = "true";
  if (!request.name().empty()) clause += " AND name = $1";
  if (!request.user().empty()) clause += " AND user_name = $2";
  if (state != 0) clause += " AND state = $3";
  if (!request.text().empty()) clause += " AND position($4 in sought) > 0";
  return clause;
}

// A scan over the jobs of one state or of all states.
class Scan {
 public:
  Scan(const v1::ListJobsRequest& request, int state)
      : request_(request), state_(state), text_(absl::AsciiStrToLower(request.text())) {}

  absl::StatusOr<std::vector<v1::ArchivedJob>> Read(const std::optional<JobPlace>& after, int limit,
                                                    PostgresDatabase& reader) const {
    const SortKey key = SortKeyOf(request_);
    const auto& [number, text, newest] = after.value_or(JobPlace());
    const std::string sql = PageSql(key, after.has_value());
    if (key.type == std::string_view("bytea")) return Run(sql, limit, newest, text, reader);
    if (key.type == std::string_view("bigint")) {
      return Run(sql, limit, newest, static_cast<int64_t>(number), reader);
    }
    return Run(sql, limit, newest, number, reader);
  }

  absl::StatusOr<int64_t> Count(PostgresDatabase& reader) const {
    const bool is_counted = request_.name().empty() && text_.empty();
    if (is_counted) {
      return reader.QueryInt64(
          "SELECT SUM(jobs)::bigint FROM archived_count WHERE ($1 = ''::bytea OR user_name = $1) "
          "AND ($2 = 0 OR state = $2)",
          request_.user(), state_);
    }
    return reader.QueryInt64(
        absl::StrCat("SELECT COUNT(*) FROM archived_job WHERE ", FilterClause(request_, state_)),
        request_.name(), request_.user(), state_, text_);
  }

 private:
  template <typename Key>
  absl::StatusOr<std::vector<v1::ArchivedJob>> Run(const std::string& sql, int limit,
                                                   int64_t newest, const Key& key,
                                                   PostgresDatabase& reader) const {
    return ReadRecords(
        reader.Query(sql, request_.name(), request_.user(), state_, text_, limit, newest, key),
        reader);
  }

  // $5: limit. $6 and $7: `newest` and sort key after which the page starts.
  std::string PageSql(const SortKey& key, bool has_after) const {
    const std::string direction = request_.reverse() ? " DESC" : " ASC";
    std::string order = absl::StrCat("newest", direction);
    std::string place = "(newest)";
    std::string start = "($6)";
    if (!key.column.empty()) {
      order = absl::StrCat(key.column, direction, ", ", order);
      place = absl::StrCat("(", key.column, ", newest)");
      start = absl::StrCat("($7::", key.type, ", $6)");
    }
    std::string filter = FilterClause(request_, state_);
    if (has_after)
      absl::StrAppend(&filter, " AND ", place, request_.reverse() ? " < " : " > ", start);
    // The inner statement reads only the narrow table. MATERIALIZED keeps the planner from reading
    // records before the limit applies. SortPage sorts the few rows that are left.
    return absl::StrCat("WITH page AS MATERIALIZED (SELECT newest FROM archived_job WHERE ", filter,
                        " ORDER BY ", order, " LIMIT $5) SELECT page.newest, block FROM page JOIN ",
                        "archived_record AS record ON record.newest = page.newest");
  }

  const v1::ListJobsRequest& request_;
  const int state_;
  const std::string text_;
};

// Columns: newest, ended_key (the negative end time).
absl::StatusOr<std::vector<ArchivedEnd>> ReadEnds(absl::StatusOr<PostgresRows> rows) {
  if (!rows.ok()) return rows.status();
  std::vector<ArchivedEnd> ends;
  for (int row = 0; row < rows->size(); ++row) {
    ends.push_back({-rows->Int64(row, 0), static_cast<int64_t>(-rows->Double(row, 1))});
  }
  return ends;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresJobArchive>> PostgresJobArchive::Open(
    PostgresPool& pool, PostgresDatabase& database) {
  std::unique_ptr<PostgresJobArchive> archive(new PostgresJobArchive(pool));
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      database.Query("SELECT state, SUM(jobs)::bigint FROM archived_count GROUP BY state"));
  for (int row = 0; row < rows.size(); ++row) {
    archive->counts_[static_cast<v1::JobState>(rows.Int64(row, 0))] = rows.Int64(row, 1);
  }
  return archive;
}

absl::Status PostgresJobArchive::Insert(const std::vector<v1::ArchivedJob>& jobs,
                                        PostgresDatabase& writer, Changes& changes) {
  for (const v1::ArchivedJob& job : jobs) {
    TRAINYARD_RETURN_IF_ERROR(InsertOne(job, writer));
    ++changes[job.job().state()];
  }
  return absl::OkStatus();
}

absl::Status PostgresJobArchive::Remove(int64_t job_id, PostgresDatabase& writer,
                                        Changes& changes) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows removed,
      writer.Query("DELETE FROM archived_job WHERE newest = $1 RETURNING user_name, state",
                   -job_id));
  if (removed.size() == 0) return absl::OkStatus();
  const int64_t state = removed.Int64(0, 1);
  TRAINYARD_RETURN_IF_ERROR(
      writer.Run("UPDATE archived_count SET jobs = jobs - 1 WHERE user_name = $1 AND state = $2",
                 removed.Bytes(0, 0), state));
  TRAINYARD_RETURN_IF_ERROR(writer.Run("DELETE FROM archived_count WHERE jobs = 0"));
  --changes[static_cast<v1::JobState>(state)];
  return writer.Run("DELETE FROM archived_record WHERE newest = $1", -job_id);
}

void PostgresJobArchive::CountCommitted(const Changes& changes) {
  const std::lock_guard lock(mutex_);
  for (const auto& [state, change] : changes) {
    if ((counts_[state] += change) == 0) counts_.erase(state);
  }
}

bool PostgresJobArchive::HasJobs() const {
  const std::lock_guard lock(mutex_);
  return !counts_.empty();
}

std::map<v1::JobState, int64_t> PostgresJobArchive::CountByState() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

JobArchive::Found PostgresJobArchive::Find(int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  return FirstRecord(
      reader->Query("SELECT newest, block FROM archived_record WHERE newest = $1", -job_id),
      *reader);
}

JobArchive::Found PostgresJobArchive::FindByName(const std::string& name) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  return FirstRecord(
      reader->Query("SELECT newest, block FROM archived_record WHERE newest = "
                    "(SELECT newest FROM archived_job WHERE name = $1 ORDER BY newest LIMIT 1)",
                    name),
      *reader);
}

JobArchive::Found PostgresJobArchive::FindByRequestId(const std::string& request_id) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  return FirstRecord(
      reader->Query("SELECT newest, block FROM archived_record WHERE newest = (SELECT newest FROM "
                    "archived_job WHERE request_id = $1 AND request_id <> '' LIMIT 1)",
                    request_id),
      *reader);
}

absl::StatusOr<ArchivedPage> PostgresJobArchive::List(const v1::ListJobsRequest& request,
                                                      const std::optional<JobPlace>& after,
                                                      int limit) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, PostgresTransaction::BeginRead(*reader));
  ArchivedPage page;
  for (const int state : StatesOf(request)) {
    const Scan scan(request, state);
    TRAINYARD_ASSIGN_OR_RETURN(auto jobs, scan.Read(after, limit, *reader));
    TRAINYARD_ASSIGN_OR_RETURN(const int64_t count, scan.Count(*reader));
    std::ranges::move(jobs, std::back_inserter(page.jobs));
    page.total += count;
  }
  SortPage(request, limit, page.jobs);
  return page;
}

absl::Status PostgresJobArchive::ForEachTime(int64_t since_ms,
                                             const std::function<void(const v1::JobTime&)>& visit) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  // Does not use a transaction. If `visit` takes long, the server would end the transaction.
  double ended_key = -std::numeric_limits<double>::infinity();
  int64_t newest = 0;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(
        const PostgresRows rows,
        reader->Query("SELECT job.newest, ended_key, time_block FROM archived_job AS job JOIN "
                      "archived_record AS record ON record.newest = job.newest WHERE "
                      "(ended_key, job.newest) > ($1, $2) AND ended_key <= $3 ORDER BY ended_key, "
                      "job.newest LIMIT $4",
                      ended_key, newest, -static_cast<double>(since_ms), kTimesAtOnce));
    for (int row = 0; row < rows.size(); ++row) {
      newest = rows.Int64(row, 0);
      ended_key = rows.Double(row, 1);
      const std::optional<v1::JobTime> time = OpenTime(newest, rows.Bytes(row, 2));
      if (!time.has_value()) return DamagedJob(newest, *reader);
      visit(*time);
    }
    if (rows.size() < kTimesAtOnce) return absl::OkStatus();
  }
}

absl::StatusOr<std::vector<ArchivedEnd>> PostgresJobArchive::EndedBy(int64_t ended_ms, int limit) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  return ReadEnds(
      reader->Query("SELECT newest, ended_key FROM archived_job WHERE ended_key >= $1 ORDER BY "
                    "ended_key DESC, newest DESC LIMIT $2",
                    -static_cast<double>(ended_ms), limit));
}

absl::StatusOr<std::vector<ArchivedEnd>> PostgresJobArchive::EndsOf(
    const std::vector<int64_t>& job_ids) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, pool_.Acquire());
  std::vector<int64_t> keys;
  for (const int64_t id : job_ids) keys.push_back(-id);
  return ReadEnds(
      reader->Query("SELECT newest, ended_key FROM archived_job WHERE newest = ANY($1)", keys));
}

}  // namespace trainyard::controller
