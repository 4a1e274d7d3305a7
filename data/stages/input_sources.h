// The origin of input files: their directories, and the runs that wrote them.
#ifndef TRAINYARD_DATA_STAGES_INPUT_SOURCES_H_
#define TRAINYARD_DATA_STAGES_INPUT_SOURCES_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/input/input_files.h"

namespace trainyard::data {

// The input files of one directory.
struct InputSource {
  std::string directory;  // as in the paths of the files; "." for names without a directory
  std::string plan;       // Plan::Hash() of the run that wrote the directory; "" if none did
  int64_t files = 0;
  int64_t bytes = 0;  // on disk
};

// Groups the files by directory, sorted by name. Reads plan.json of each directory that has one.
std::vector<InputSource> SourcesOf(const std::vector<InputFile>& files);

// Maximum number of entries of SourcesJson. Later ones are added up in one entry without a
// directory, with their number as "directories".
inline constexpr size_t kSourcesListed = 1000;

// [{"directory": ..., "plan": ..., "files": ..., "bytes": ...}]; without "plan" if it is empty.
nlohmann::ordered_json SourcesJson(const std::vector<InputSource>& sources);

// Returns "" if all paths are absolute, otherwise the working directory.
std::string WorkingDirectoryFor(const std::vector<InputFile>& files);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_INPUT_SOURCES_H_
