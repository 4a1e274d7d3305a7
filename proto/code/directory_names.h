// Lists a directory.
#ifndef TRAINYARD_PROTO_CODE_DIRECTORY_NAMES_H_
#define TRAINYARD_PROTO_CODE_DIRECTORY_NAMES_H_

#include <dirent.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::code {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using OpenedDirectory = std::unique_ptr<DIR, CloseDirectory>;

// Returns the sorted names in an open directory, without "." and "..". Errors name `path`.
absl::StatusOr<std::vector<std::string>> NamesIn(DIR* directory, const std::string& path);

absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& path);

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_DIRECTORY_NAMES_H_
