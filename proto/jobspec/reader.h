// Texts of job files and recipes, from disk or from a request.
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
  // The text was sent without a folder: relative paths in it and in its overrides are rejected.
  bool sent = false;
};

// Finds the text of a job file or recipe. `reference` is the text after `extends:`; `from` is the
// path of the file that contains it, or empty for the command line. NOT_FOUND if there is none; the
// message lists the searched places.
using JobFileReader = std::function<absl::StatusOr<JobFileText>(const std::string& reference,
                                                                const std::string& from)>;

// Reads files by path, and recipes by name ("llama-tiny-cpu" -> DIR/llama-tiny-cpu.yaml) from the
// given directories.
JobFileReader FileSystemReader(std::vector<std::string> recipe_directories);

// Like FileSystemReader, for clients: accepts only names of recipes, and files they extend. A
// client must not read a file it could not read itself.
JobFileReader RecipeReader(std::vector<std::string> recipe_directories);

// Folders of the recipes installed with a program: SOURCE/recipes above BUILD/bin/PROGRAM in a
// source tree, PREFIX/share/trainyard/recipes for PREFIX/bin/PROGRAM.
std::vector<std::string> RecipeDirectoriesOf(const std::string& program_directory);

// Display name of a job file that was sent as text.
inline constexpr char kSentJobFile[] = "job file";

// Returns this text for kSentJobFile. It may extend recipes of the given directories by name, but
// no files by path: a client must not read a file it could not read itself.
JobFileReader SentJobFileReader(std::string text, std::vector<std::string> recipe_directories);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_READER_H_
