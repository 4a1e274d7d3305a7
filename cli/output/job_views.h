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

// Names of nodes, by node id.
using NodeNames = google::protobuf::Map<std::string, std::string>;

// Returns the origin of a setting for tables, such as "job.yaml:7". A recipe, whose file is in a
// folder named recipes, becomes "llama-tiny-cpu:16". Other origins are unchanged.
std::string ShortOrigin(const std::string& origin);

// Returns the newest attempt; nullptr if there is none yet.
const v1::Attempt* NewestAttempt(const v1::Job& job);

// Returns a row for each job, in the order of the response, with the job's pending reason or
// verdict.
Listing JobListing(const v1::ListJobsResponse& response, Timestamp now);

// Returns the job for -o json and -o yaml. All keys are present (StableJson in stable_json.h). An
// outdated rate and ETA are left out (WithoutOldRate in freshness.h).
nlohmann::json JobDocument(const v1::Job& job, Timestamp now);

struct DescribeOptions {
  // The attempt to show. 0: all attempts, and the ranks of the newest one.
  int64_t attempt = 0;
  // True: include settings that have their default values.
  bool all_settings = false;
};

// Returns the text of `describe`, divided into sections.
std::string DescribeText(const v1::GetJobResponse& response, const DescribeOptions& options,
                         Timestamp now);

// Returns the placement of the ranks, such as "node-1: ranks 0-7", one node per line.
std::string RanksText(const google::protobuf::RepeatedPtrField<v1::RankPlacement>& ranks,
                      const NodeNames& names);

// Returns key, value and origin of each setting, in the order of job_spec.proto. Origins are
// shortened (ShortOrigin).
Listing SpecListing(const v1::JobSpec& spec, const Origins& origins);

Listing CheckpointListing(const v1::Job& job, bool deleted_too, Timestamp now);

// Returns the text of the event, such as "attempt 2 placed: 8 ranks on 2 nodes, from step 100".
// Print it through OneLine, because it may contain text from a trainer or a node, including line
// ends.
std::string EventText(const v1::Event& event, const NodeNames& names);

// Returns cause, summary, culprit (rank and node), whether a retry can help, and the last lines of
// the culprit's output, indented. If the name of the culprit's node is unknown, the line about the
// culprit is left out, because the summary names it.
std::string VerdictText(const v1::Verdict& verdict, const NodeNames& names);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOB_VIEWS_H_
