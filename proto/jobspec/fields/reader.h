// Finds the texts of job files and recipes, on disk or in a request.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_READER_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_READER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/contract/limits.h"

namespace trainyard {

struct JobFileText {
  // Path or name, for messages.
  std::string display_name;
  std::string text;
  // True if the text was sent without a folder. Relative paths in the text and in its overrides are
  // then rejected.
  bool sent = false;
};

// Returns the text of a job file or recipe. `reference` is the value in `extends:` or on the
// command line. `from` is the path of the file that contains the reference; empty for the command
// line. NOT_FOUND: there is no such file; the message lists the places searched.
using JobFileReader = std::function<absl::StatusOr<JobFileText>(const std::string& reference,
                                                                const std::string& from)>;

// Returns a reader that reads files by path, and recipes by name from the given directories
// ("llama-tiny-cpu" -> DIR/llama-tiny-cpu.yaml).
JobFileReader FileSystemReader(std::vector<std::string> recipe_directories);

// Like FileSystemReader, but for requests of clients. Accepts only names of recipes, and files that
// a recipe extends, so that a client cannot read files without permission.
JobFileReader RecipeReader(std::vector<std::string> recipe_directories);

// Returns the folders of the recipes that are installed with a program. For PREFIX/bin/PROGRAM, the
// folder is PREFIX/share/trainyard/recipes. For BUILD/bin/PROGRAM in a source tree, the folder is
// `recipes` in the tree's root.
std::vector<std::string> RecipeDirectoriesOf(const std::string& program_directory);

// Returns a reader whose file `name` is `text`, as if this file were in the current directory. All
// other references go to `files`.
JobFileReader LocalTextReader(std::string name, std::string text, JobFileReader files);

// The display name of a job file that was sent as text.
inline constexpr char kSentJobFile[] = "job file";

// Returns a reader whose file kSentJobFile is `text`. The text may extend recipes in the given
// directories by name. The text may not extend files by path, so that a client cannot read files
// without permission.
JobFileReader SentJobFileReader(std::string text, std::vector<std::string> recipe_directories);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_READER_H_
