// The range of nodes of an elastic job: `resources.nodes: 2..8`.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_NODE_RANGE_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_NODE_RANGE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

inline constexpr char kNodesKey[] = "resources.nodes";
inline constexpr char kMinNodesKey[] = "min_nodes";

// The smallest and the largest number of nodes.
struct NodeRange {
  int min = 0;
  int max = 0;
};

// Parses "2..8". Returns nullopt for a text without "..". INVALID_ARGUMENT: the message completes a
// sentence that begins with the key.
std::optional<absl::StatusOr<NodeRange>> ParseNodeRange(const std::string& text);

// Returns true if the job may run on several numbers of nodes.
bool IsElastic(const v1::JobSpec& spec);

// Returns "2..8" for an elastic job and "8" for any other job.
std::string NodesText(const v1::JobSpec& spec);

// Returns the number of nodes of a job for users. For an elastic job, this is "4 of 2..8" once it
// has an attempt, with the number of nodes of its newest attempt.
std::string GangNodesText(const v1::Job& job);

// Returns layout.dp for this number of nodes, or 0 if the other sizes of the layout do not divide
// the ranks.
int64_t DataParallelOn(const v1::JobSpec& spec, int nodes);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_NODE_RANGE_H_
