// Which jobs make and read the same data sets.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_DATA_LINKS_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_DATA_LINKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

// A data set in the report of a job.
struct ReportedDataSet {
  std::string path;
  std::string xxh64;  // of its training tokens; empty if unknown
  int64_t tokens = 0;
};

// Returns the data sets of a report of either format (proto/contract/data_report.h). Entries with
// unexpected types are left out.
std::vector<ReportedDataSet> DataSetsOf(const nlohmann::json& report);

// True for the report of a training job.
bool IsDataUse(const nlohmann::json& report);

// A job that makes or reads one of the data sets.
struct LinkedJob {
  int64_t id = 0;
  std::string name;
  ReportedDataSet data_set;  // as this job reports it; its path may be that of a copy
};

// Maximum numbers of jobs whose reports are read, the newest first.
inline constexpr int kListedJobsMax = 200;
inline constexpr int kDataJobsMax = 20;  // their reports have up to 1 MiB
inline constexpr int kTrainingJobsMax = 100;

// Finds the training jobs that read one of the data sets, or, with `makers`, the data jobs that
// make one. Data sets are equal if their checksums are. Newest job first. Returns errors of the
// client.
absl::StatusOr<std::vector<LinkedJob>> FindLinkedJobs(const std::vector<ReportedDataSet>& sets,
                                                      bool makers, Client& client);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_DATA_LINKS_H_
