// Parses the text of a job file as one YAML document.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_YAML_DOCUMENT_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_YAML_DOCUMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/jobspec/fields/reader.h"
#include "yaml-cpp/yaml.h"

namespace trainyard {

// Parses the text of one file. INVALID_ARGUMENT: the text is not exactly one YAML mapping, is not
// UTF-8, or is larger than kMaxJobFileBytes. The message begins with "name:line:column: ".
absl::StatusOr<YAML::Node> ParseYaml(const JobFileText& file);

// Returns true if the text has several documents or begins with a comma. YAML::Load reads only the
// first. Throws YAML::Exception if the first document is not YAML.
bool HoldsSeveralDocuments(const std::string& text);

// Returns "name:line:column"; only the name if the node has no position.
std::string Place(const std::string& display_name, const YAML::Mark& mark);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_YAML_DOCUMENT_H_
