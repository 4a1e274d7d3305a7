// Folders that do not follow a rule yet.
#ifndef TRAINYARD_TESTS_TIDY_UNCLEAN_FOLDERS_H_
#define TRAINYARD_TESTS_TIDY_UNCLEAN_FOLDERS_H_

#include <algorithm>
#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace trainyard::tidy {

struct UncleanFolder {
  std::string folder;  // "a/b" means all files below it, "a/b/*" only files directly in it.
  const char* reason;
};

// True if the file is in one of the folders. The file's violations are not reported.
inline bool IsUnclean(const std::string& path, const std::vector<UncleanFolder>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const UncleanFolder& unclean) {
    return IsBelow(path, unclean.folder) || FolderOf(path) + "/*" == unclean.folder;
  });
}

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_UNCLEAN_FOLDERS_H_
