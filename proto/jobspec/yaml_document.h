// The text of a job file as one YAML document.
#ifndef TRAINYARD_PROTO_JOBSPEC_YAML_DOCUMENT_H_
#define TRAINYARD_PROTO_JOBSPEC_YAML_DOCUMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/jobspec/reader.h"
#include "yaml-cpp/yaml.h"

namespace trainyard {

// Parses the text of one file. INVALID_ARGUMENT unless it is one YAML mapping in UTF-8 of at most
// kMaxJobFileBytes; the message begins with "name:line:column: ".
absl::StatusOr<YAML::Node> ParseYaml(const JobFileText& file);

// "name:line:column"; the name alone for a node without a position.
std::string Place(const std::string& display_name, const YAML::Mark& mark);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_YAML_DOCUMENT_H_
