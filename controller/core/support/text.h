// Helper functions for the messages that the core writes for users.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_TEXT_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// INVALID_ARGUMENT: `text` is longer than max_bytes. The message uses `what` as the name of the
// text.
absl::Status CheckLength(const char* what, const std::string& text, std::size_t max_bytes);

// Returns "1 node" or "3 nodes".
std::string Counted(int64_t count, const char* noun);

// "cpu" or "gpu".
std::string KindName(v1::DeviceKind kind);

// Returns, for example, "2 nodes with 4 gpu slots each".
std::string ShapeText(int nodes, int slots_per_node, v1::DeviceKind kind);

// Returns, for example, "64 GiB" or "1.48 TiB". Rounds down, so that free memory is never
// overstated.
std::string MemoryText(int64_t bytes);

// Returns, for example, "rank 3" or "ranks 0-2,7".
std::string RanksText(const std::vector<int>& ranks);

// "job 17 (llama-tiny)".
std::string JobText(const v1::Job& job);
std::string PrerequisiteText(const v1::Prerequisite& prerequisite);

// Returns the condition without the job: "success", "failure", "end", "checkpoint" or "checkpoint
// at step 5000 or later".
std::string ConditionText(const v1::Prerequisite& prerequisite);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_TEXT_H_
