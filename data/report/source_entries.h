// Reads the lists of inputs that plans and provenance.json contain.
#ifndef TRAINYARD_DATA_REPORT_SOURCE_ENTRIES_H_
#define TRAINYARD_DATA_REPORT_SOURCE_ENTRIES_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/report/step.h"

namespace trainyard::data {

// Returns `path`, below `working_directory` if it is relative.
std::string AbsoluteBelow(const std::string& working_directory, const std::string& path);

// Appends the entries of a text of SourcesJson. Throws the exceptions of nlohmann::json.
void AddSourceEntries(const nlohmann::ordered_json& sources, const std::string& use,
                      const std::string& working_directory, std::vector<StepInput>* inputs);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_SOURCE_ENTRIES_H_
