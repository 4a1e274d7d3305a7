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
  // Path or name for messages.
  std::string display_name;
  std::string text;
  // The text came without a folder: relative paths in it, and in overrides of it, are refused.
  bool sent = false;
};

// Finds the text of a job file or recipe. `reference` is the text after `extends:`; `from` is the
// path of the file that holds it, empty for the command line. NOT_FOUND when there is none; the
// message lists the places searched.
using JobFileReader = std::function<absl::StatusOr<JobFileText>(const std::string& reference,
                                                                const std::string& from)>;

// Reads files by path and recipes by name ("llama-tiny-cpu" -> DIR/llama-tiny-cpu.yaml) from the
// given directories.
JobFileReader FileSystemReader(std::vector<std::string> recipe_directories);

// The same without paths from a client, who must not read a file that it could not read itself:
// only names of recipes, and what these extend.
JobFileReader RecipeReader(std::vector<std::string> recipe_directories);

// The folders of recipes that come with a program: BUILD/bin/PROGRAM of a source tree has
// SOURCE/recipes above it; PREFIX/bin/PROGRAM has PREFIX/share/trainyard/recipes.
std::vector<std::string> RecipeDirectoriesOf(const std::string& program_directory);

// Display name of a job file that was sent as text.
inline constexpr char kSentJobFile[] = "job file";

// Reads kSentJobFile as this text. It may extend recipes of the given directories by name, and no
// file by its path: a client must not read a file that it could not read itself.
JobFileReader SentJobFileReader(std::string text, std::vector<std::string> recipe_directories);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_READER_H_
