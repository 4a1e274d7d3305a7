// The key `exclude` of a `matrix`, which leaves out combinations of values.
#ifndef TRAINYARD_PROTO_JOBSPEC_MATRIX_MATRIX_EXCLUDE_H_
#define TRAINYARD_PROTO_JOBSPEC_MATRIX_MATRIX_EXCLUDE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/jobspec/matrix/matrix_axis.h"
#include "yaml-cpp/yaml.h"

namespace trainyard {

// No setting of a job file has this name, so it cannot be the key of an axis.
inline constexpr char kExcludeKey[] = "exclude";
// The maximum number of entries of `exclude`, and of combinations that they leave out. A
// combination counts once for each entry that leaves it out.
inline constexpr int64_t kMaxExcludeEntries = 1000;
inline constexpr int64_t kMaxExcluded = 10'000;

// Converts the entries to the text that the spec stores: a JSON list of objects with keys and
// values as texts. INVALID_ARGUMENT: the node is not a list of mappings from keys to single values.
absl::StatusOr<std::string> ExcludeText(const YAML::Node& node);

// Returns the combinations that have all values of an entry, ascending and without duplicates.
// `strides`: the distance of two values of each axis in the product of all axes.
// INVALID_ARGUMENT: an entry has a key or a value that the axes do not have, or too many
// combinations are left out.
absl::StatusOr<std::vector<int64_t>> ExcludedCombinations(const std::string& text,
                                                          const std::vector<MatrixAxis>& axes,
                                                          const std::vector<int64_t>& strides);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_MATRIX_MATRIX_EXCLUDE_H_
