// The files of the repository, as the rules see them.
#ifndef TRAINYARD_TESTS_TIDY_SOURCE_TREE_H_
#define TRAINYARD_TESTS_TIDY_SOURCE_TREE_H_

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::tidy {

struct SourceFile {
  // From the root, with slashes: "controller/core/plan.cpp".
  std::string path;
  std::string text;
};

// Sorted by path.
using SourceTree = std::vector<SourceFile>;

// Reads every text file of ours; build folders, node_modules, dist and hidden folders are left out.
SourceTree LoadSourceTree(const std::string& root);

// "plan.cpp" of "controller/core/plan.cpp"; "controller/core" of the same, "" for a file at the
// root.
std::string FileName(const std::string& path);
std::string FolderOf(const std::string& path);
bool HasExtension(const std::string& path, const std::vector<std::string>& extensions);

bool IsBelow(const std::string& path, const std::string& folder);
bool IsBelowAny(const std::string& path, const std::vector<std::string>& folders);

// C++ and CUDA.
bool IsCode(const std::string& path);

std::vector<std::string_view> SplitLines(std::string_view text);

}  // namespace trainyard::tidy

#endif  // TRAINYARD_TESTS_TIDY_SOURCE_TREE_H_
