// Generates documentation of job files from the FieldRules, which the loader uses as well.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_SCHEMA_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_SCHEMA_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace trainyard {

// Returns the JSON Schema (draft 2020-12) of job files.
nlohmann::json JobFileSchema();

// Returns the text of `trainyard explain KEY`. An empty key explains the whole file. NOT_FOUND: the
// message names the most similar key.
absl::StatusOr<std::string> ExplainJobFileKey(const std::string& key);

// Returns every dotted key that --set accepts, sorted.
std::vector<std::string> JobFileKeys();

// Returns the candidate with the smallest edit distance to `word`; empty if none is similar.
std::string NearestName(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_SCHEMA_H_
