// Names of nodes with ranges, as in `placement.nodes` of a job file and in a topology.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_NODE_NAMES_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_NODE_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard {

// Maximum number of names in one list. Larger than the largest gang.
inline constexpr std::size_t kMaxNodeNames = 20'000;

// Returns the names that the text stands for, in the order of the text. The text has one or more
// names separated by commas. A name may contain ranges in brackets, as in Slurm: `gpu[01-03,7]` is
// gpu01, gpu02, gpu03 and gpu7. A number has at least the width of the first number of its range.
// INVALID_ARGUMENT: a range or a name is not valid, or the text stands for more than `most` names.
absl::StatusOr<std::vector<std::string>> ExpandNodeNames(const std::string& text,
                                                         std::size_t most = kMaxNodeNames);

// Returns the names of all entries of a list, at most kMaxNodeNames.
template <typename Entries>
absl::StatusOr<std::vector<std::string>> ExpandNodeLists(const Entries& entries) {
  std::vector<std::string> names;
  for (const std::string& entry : entries) {
    auto more = ExpandNodeNames(entry, kMaxNodeNames - names.size());
    if (!more.ok()) return more.status();
    names.insert(names.end(), more->begin(), more->end());
  }
  return names;
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_NODE_NAMES_H_
