// Finds the texts of job files and recipes, on disk or in a request.
#ifndef TRAINYARD_PROTO_JOBSPEC_READER_H_
#define TRAINYARD_PROTO_JOBSPEC_READER_H_

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
  // True if the text was sent without a folder. Relative paths in it and in its overrides are then
  // rejected.
  bool sent = false;
};

// Returns the text of a job file or recipe. `reference` is the text after `extends:`. `from` is the
// path of the file that contains the reference, or empty for a reference on the command line.
// NOT_FOUND if there is no such file; the message lists the places searched.
using JobFileReader = std::function<absl::StatusOr<JobFileText>(const std::string& reference,
                                                                const std::string& from)>;

// Returns a reader that reads files by path, and recipes by name from the given directories
// ("llama-tiny-cpu" -> DIR/llama-tiny-cpu.yaml).
JobFileReader FileSystemReader(std::vector<std::string> recipe_directories);

// Like FileSystemReader, but for requests of clients. Accepts only names of recipes, and files that
// recipes extend. Otherwise a client could read a file that it has no permission to read.
JobFileReader RecipeReader(std::vector<std::string> recipe_directories);

// Returns the folders of the recipes that are installed with a program. In a source tree, for
// BUILD/bin/PROGRAM, it is SOURCE/recipes in a parent directory. For PREFIX/bin/PROGRAM it is
// PREFIX/share/trainyard/recipes.
std::vector<std::string> RecipeDirectoriesOf(const std::string& program_directory);

// The display name of a job file that was sent as text.
inline constexpr char kSentJobFile[] = "job file";

// Returns a reader that returns `text` for kSentJobFile. The text may extend recipes in the given
// directories by name. It may not extend files by path: otherwise a client could read a file that
// it has no permission to read.
JobFileReader SentJobFileReader(std::string text, std::vector<std::string> recipe_directories);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_READER_H_
