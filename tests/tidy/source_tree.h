// The files of the repository, as input for the rules.
#ifndef TRAINYARD_TESTS_TIDY_SOURCE_TREE_H_
#define TRAINYARD_TESTS_TIDY_SOURCE_TREE_H_

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::tidy {

struct SourceFile {
  // Path relative to the root, with slashes: "controller/core/plan.cpp".
  std::string path;
  std::string text;
};

// Sorted by path.
using SourceTree = std::vector<SourceFile>;

// Reads every text file of the project except those in build folders, node_modules, dist and hidden
// folders.
SourceTree LoadSourceTree(const std::string& root);

// FileName returns "plan.cpp" for "controller/core/plan.cpp". FolderOf returns "controller/core",
// and "" for a file in the root.
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
