// Documentation of job files, made from the same FieldRules as the loader.
#ifndef TRAINYARD_PROTO_JOBSPEC_SCHEMA_H_
#define TRAINYARD_PROTO_JOBSPEC_SCHEMA_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace trainyard {

// JSON Schema (draft 2020-12) of job files.
nlohmann::json JobFileSchema();

// Text for `trainyard explain KEY`; empty key explains the whole file. NOT_FOUND names the nearest
// key.
absl::StatusOr<std::string> ExplainJobFileKey(const std::string& key);

// Every dotted key that --set accepts, sorted.
std::vector<std::string> JobFileKeys();

// The candidate nearest to `word` by edit distance, or "" when none is near.
std::string NearestName(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_SCHEMA_H_
