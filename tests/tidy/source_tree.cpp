#include "tests/tidy/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace trainyard::tidy {
namespace {

namespace fs = std::filesystem;

bool IsLeftOut(const fs::path& folder) {
  static const std::set<std::string> kLeftOut = {"build", "node_modules", "dist", "__pycache__"};
  const std::string name = folder.filename().string();
  return name.front() == '.' || kLeftOut.count(name) > 0;
}

// True for alert rules and Grafana boards. Other JSON and YAML is generated or test data.
bool IsDeployed(const std::string& path) {
  return IsBelow(path, "deploy") && HasExtension(path, {".yml", ".json"});
}

bool IsText(const std::string& path) {
  return FileName(path) == "CMakeLists.txt" || IsDeployed(path) ||
         HasExtension(path, {".cpp", ".h", ".cu", ".proto", ".cmake", ".md", ".sh", ".py", ".yaml",
                             ".ts", ".tsx", ".css", ".in", ".txt"});
}

}  // namespace

SourceTree LoadSourceTree(const std::string& root) {
  SourceTree tree;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    if (entry->is_directory()) {
      if (IsLeftOut(entry->path())) entry.disable_recursion_pending();
      continue;
    }
    const std::string path = fs::relative(entry->path(), root).generic_string();
    if (!entry->is_regular_file() || !IsText(path)) continue;
    std::ifstream stream(entry->path(), std::ios::binary);
    tree.push_back({path, {std::istreambuf_iterator<char>(stream), {}}});
  }
  std::sort(tree.begin(), tree.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return tree;
}

std::string FileName(const std::string& path) { return fs::path(path).filename().string(); }

std::string FolderOf(const std::string& path) {
  return fs::path(path).parent_path().generic_string();
}

bool HasExtension(const std::string& path, const std::vector<std::string>& extensions) {
  const std::string extension = fs::path(path).extension().string();
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/");
}

bool IsBelowAny(const std::string& path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const std::string& folder) { return IsBelow(path, folder); });
}

bool IsCode(const std::string& path) { return HasExtension(path, {".cpp", ".h", ".cu"}); }

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    lines.push_back(text.substr(0, newline));
    if (newline == std::string_view::npos) break;
    text.remove_prefix(newline + 1);
  }
  return lines;
}

}  // namespace trainyard::tidy
