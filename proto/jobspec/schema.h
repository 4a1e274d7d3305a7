// Documentation of job files, generated from the FieldRules that the loader uses.
#ifndef TRAINYARD_PROTO_JOBSPEC_SCHEMA_H_
#define TRAINYARD_PROTO_JOBSPEC_SCHEMA_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace trainyard {

// JSON Schema (draft 2020-12) of job files.
nlohmann::json JobFileSchema();

// Text for `trainyard explain KEY`; an empty key explains the whole file. NOT_FOUND names the
// nearest key.
absl::StatusOr<std::string> ExplainJobFileKey(const std::string& key);

// Every dotted key accepted by --set, sorted.
std::vector<std::string> JobFileKeys();

// The candidate nearest to `word` by edit distance, or "" if none is near.
std::string NearestName(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_SCHEMA_H_
