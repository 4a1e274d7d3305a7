#include "tests/tidy/include_cycles.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/cpp_text.h"

namespace trainyard::tidy {
namespace {

// For each including module or folder, the names that it includes. Every name has an entry.
using Graph = std::map<std::string, std::set<std::string>>;

std::string ModuleOf(const std::string& path) { return path.substr(0, path.rfind('.')); }

Graph GraphOf(const SourceTree& tree, const std::function<std::string(const std::string&)>& name) {
  Graph graph;
  for (const SourceFile& file : tree) {
    if (IsCode(file.path)) graph[name(file.path)];
  }
  for (const SourceFile& file : tree) {
    if (!IsCode(file.path)) continue;
    const std::string from = name(file.path);
    for (const Include& include : IncludesOf(file.text)) {
      const std::string to = name(include.path);
      if (to != from && graph.count(to) > 0) graph[from].insert(to);
    }
  }
  return graph;
}

// A depth-first search that reports each cycle as "a -> b -> a".
class CycleSearch {
 public:
  explicit CycleSearch(const Graph& graph) : graph_(graph) {}

  Violations Run() {
    for (const auto& [name, includes] : graph_) Visit(name);
    return cycles_;
  }

 private:
  void Visit(const std::string& name) {
    if (!visited_.insert(name).second) return;
    path_.push_back(name);
    on_path_.insert(name);
    for (const std::string& next : graph_.at(name)) {
      if (on_path_.count(next) > 0) {
        Report(next);
      } else {
        Visit(next);
      }
    }
    on_path_.erase(name);
    path_.pop_back();
  }

  void Report(const std::string& first) {
    std::string cycle = first;
    auto begin = path_.rbegin();
    while (*begin != first) ++begin;
    for (auto name = begin.base(); name != path_.end(); ++name) cycle += " -> " + *name;
    cycles_.push_back(cycle + " -> " + first);
  }

  const Graph& graph_;
  std::set<std::string> visited_;
  std::vector<std::string> path_;
  std::set<std::string> on_path_;
  Violations cycles_;
};

}  // namespace

Violations CheckModuleCycles(const SourceTree& tree) {
  return CycleSearch(GraphOf(tree, ModuleOf)).Run();
}

Violations CheckFolderCycles(const SourceTree& tree) {
  return CycleSearch(GraphOf(tree, FolderOf)).Run();
}

}  // namespace trainyard::tidy
