// Jobs and checkpoints as tables and documents.
#ifndef TRAINYARD_CLI_OUTPUT_JOB_VIEWS_H_
#define TRAINYARD_CLI_OUTPUT_JOB_VIEWS_H_

#include <map>
#include <string>

#include "cli/output/table.h"
#include "google/protobuf/map.h"
#include "proto/jobspec/origins.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::cli {

// Names of nodes by node id.
using NodeNames = google::protobuf::Map<std::string, std::string>;

// Origin of a setting for tables: "job.yaml:7", or "llama-tiny-cpu:16" for a recipe, whose file is
// in a folder named recipes. Other origins are unchanged.
std::string ShortOrigin(const std::string& origin);

// Newest attempt, or nullptr before the first.
const v1::Attempt* NewestAttempt(const v1::Job& job);

// Rows in response order, each with the job's pending reason or verdict.
Listing JobListing(const v1::ListJobsResponse& response, Timestamp now);

// The job for -o json and -o yaml: all keys present (StableJson in stable_json.h), without an
// outdated rate and ETA (WithoutOldRate in freshness.h).
nlohmann::json JobDocument(const v1::Job& job, Timestamp now);

struct DescribeOptions {
  // Only this attempt; 0 for all, with the ranks of the newest one.
  int64_t attempt = 0;
  // Includes settings with default values.
  bool all_settings = false;
};

// The text of `describe`, in sections.
std::string DescribeText(const v1::GetJobResponse& response, const DescribeOptions& options,
                         Timestamp now);

// Placement of the ranks: "node-1: ranks 0-7", one node per line.
std::string RanksText(const google::protobuf::RepeatedPtrField<v1::RankPlacement>& ranks,
                      const NodeNames& names);

// Key, value and origin of each setting, in the order of job_spec.proto. The cells contain short
// origins.
Listing SpecListing(const v1::JobSpec& spec, const Origins& origins);

Listing CheckpointListing(const v1::Job& job, bool deleted_too, Timestamp now);

// Text of the event: "attempt 2 placed: 8 ranks on 2 nodes, from step 100". Print it through
// OneLine: it may contain text of a trainer or a node, with line ends.
std::string EventText(const v1::Event& event, const NodeNames& names);

// Cause, summary, culprit (rank and node), whether a retry can help, and the last lines of the
// culprit's output, indented. If the name of the culprit's node is unknown, the culprit's line is
// left out: the summary names it.
std::string VerdictText(const v1::Verdict& verdict, const NodeNames& names);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOB_VIEWS_H_
