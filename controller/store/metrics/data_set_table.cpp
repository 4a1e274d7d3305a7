#include "controller/store/metrics/data_set_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// Adds the jobs on the other side. A job that lists the data set twice counts once.
absl::Status AddJobs(SqlDatabase& database, LinkedDataSet& linked) {
  const std::string& xxh64 = linked.set.xxh64;
  if (xxh64.empty()) return absl::OkStatus();
  const int64_t reads = linked.reads ? 0 : 1;
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query,
      database.Query(
          "SELECT job_id, path FROM (SELECT job_id, path, ROW_NUMBER() OVER (PARTITION BY "
          "job_id ORDER BY path) AS position FROM job_data_set WHERE xxh64 = $1 AND "
          "reads = $2) AS listed WHERE position = 1 ORDER BY job_id DESC LIMIT $3",
          xxh64, reads, int64_t{kLinkedJobsMax}));
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found) break;
    linked.jobs.push_back({query->Int64(0), std::string(query->Bytes(1))});
  }
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t jobs,
      database.QueryInt64(
          "SELECT COUNT(DISTINCT job_id) FROM job_data_set WHERE xxh64 = $1 AND reads = $2", xxh64,
          reads));
  linked.omitted_jobs = std::max<int64_t>(0, jobs - static_cast<int64_t>(linked.jobs.size()));
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteDataSets(SqlDatabase& database, int64_t job_id, const ReportedDataSets& sets) {
  TRAINYARD_RETURN_IF_ERROR(database.Run("DELETE FROM job_data_set WHERE job_id = $1", job_id));
  int64_t place = 0;
  for (const ReportedDataSet& set : sets.sets) {
    TRAINYARD_RETURN_IF_ERROR(
        database.Run("INSERT INTO job_data_set VALUES ($1, $2, $3, $4, $5, $6)", job_id, place++,
                     int64_t{sets.reads}, set.path, set.xxh64, set.tokens));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LinkedDataSet>> ReadLinkedDataSets(SqlDatabase& database,
                                                              int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query, database.Query("SELECT path, xxh64, tokens, reads FROM job_data_set WHERE "
                                       "job_id = $1 ORDER BY place",
                                       job_id));
  std::vector<LinkedDataSet> sets;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found) return sets;
    LinkedDataSet linked;
    linked.set = {std::string(query->Bytes(0)), std::string(query->Bytes(1)), query->Int64(2)};
    linked.reads = query->Int64(3) != 0;
    TRAINYARD_RETURN_IF_ERROR(AddJobs(database, linked));
    sets.push_back(std::move(linked));
  }
}

}  // namespace trainyard::controller
