// Jobs and checkpoints as tables and documents.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_JOB_VIEWS_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_JOB_VIEWS_H_

#include <map>
#include <string>

#include "cli/output/terminal/table.h"
#include "google/protobuf/map.h"
#include "proto/jobspec/fields/origins.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::cli {

// Node names by node id.
using NodeNames = google::protobuf::Map<std::string, std::string>;

// Returns a short form of a setting's origin for tables, such as "job.yaml:7". A recipe, which is a
// file in a folder named recipes, becomes "llama-tiny-cpu:16". Origins that are not files are
// unchanged.
std::string ShortOrigin(const std::string& origin);

// Returns nullptr if there is no attempt yet.
const v1::Attempt* NewestAttempt(const v1::Job& job);

// Returns one row per job, in the order of the response, with the job's pending reason or verdict.
Listing JobListing(const v1::ListJobsResponse& response, Timestamp now);

// Returns the job for -o json and -o yaml. All keys are present (see StableJson). An outdated rate
// and
// ETA are removed (see WithoutOldRate).
nlohmann::json JobDocument(const v1::Job& job, Timestamp now);

struct DescribeOptions {
  // The attempt to show. 0: show all attempts, and the ranks of the newest attempt.
  int64_t attempt = 0;
  // True: include settings that have their default values.
  bool all_settings = false;
  // Unset if the job has no relatives.
  v1::GetLineageResponse lineage = {};
  // Unset if the job has reported no data sets.
  v1::GetDataReportResponse data = {};
};

// Returns the output of `describe`, which is divided into sections.
std::string DescribeText(const v1::GetJobResponse& response, const DescribeOptions& options,
                         Timestamp now);

// Returns the placement of the ranks with one node per line, such as "node-1: ranks 0-7".
std::string RanksText(const google::protobuf::RepeatedPtrField<v1::RankPlacement>& ranks,
                      const NodeNames& names);

// Lists key, value and short origin (see ShortOrigin) of each setting, in the order of
// job_spec.proto.
Listing SpecListing(const v1::JobSpec& spec, const Origins& origins);

Listing CheckpointListing(const v1::Job& job, bool deleted_too, Timestamp now);
// Returns the cause and the summary, the failing rank and its node, whether a retry can help, a
// stalled rank's stacks, and the last lines of the failing rank's output. Omits the line about the
// rank if the node's name is unknown, because the summary names the rank.
std::string VerdictText(const v1::Verdict& verdict, const NodeNames& names);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_JOB_VIEWS_H_
