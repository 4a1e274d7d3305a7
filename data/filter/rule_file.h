// Reads lists of rules from YAML.
#ifndef TRAINYARD_DATA_FILTER_RULE_FILE_H_
#define TRAINYARD_DATA_FILTER_RULE_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/filter/filter_program.h"

namespace trainyard::data {

// Adds the steps of a preset. INVALID_ARGUMENT if there is no such preset.
absl::Status AddPreset(const std::string& name, FilterProgram& program);

// README.md describes the format. Errors are INVALID_ARGUMENT and begin with
// "display_name:line: ".
absl::StatusOr<FilterProgram> ParseRuleFile(std::string_view yaml, const std::string& display_name);

// Reads and parses a file of at most 1 MiB.
absl::StatusOr<FilterProgram> ReadRuleFile(const std::string& path);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_RULE_FILE_H_
