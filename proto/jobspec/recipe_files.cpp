#include "proto/jobspec/recipe_files.h"

#include <algorithm>
#include <filesystem>

#include "yaml-cpp/yaml.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

// Check that the key exists, because IsScalar throws if it is missing.
std::string ScalarAt(const YAML::Node& root, const char* key) {
  const YAML::Node node = root[key];
  return node.IsDefined() && node.IsScalar() ? node.Scalar() : "";
}

// Reads only the description. The recipe is not resolved, because it may lack settings that a job
// needs, such as data.path.
void Describe(const std::string& text, Recipe& recipe) {
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) return;
    recipe.description = ScalarAt(root, "description");
  } catch (const YAML::Exception&) {
    recipe.description = "(not readable as YAML)";
  }
}

}  // namespace

std::vector<Recipe> FindRecipes(const std::vector<std::string>& directories) {
  const JobFileReader read = FileSystemReader(directories);
  std::vector<Recipe> recipes;
  for (const std::string& directory : directories) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      if (entry.path().extension() != ".yaml") continue;
      const std::string name = entry.path().stem().string();
      const bool hidden = std::any_of(recipes.begin(), recipes.end(),
                                      [&](const Recipe& known) { return known.name == name; });
      if (hidden) continue;
      const absl::StatusOr<JobFileText> file = read(entry.path().string(), "");
      Recipe& recipe = recipes.emplace_back();
      recipe.name = name;
      recipe.path = entry.path().string();
      if (file.ok()) Describe(file->text, recipe);
    }
  }
  std::sort(recipes.begin(), recipes.end(),
            [](const Recipe& a, const Recipe& b) { return a.name < b.name; });
  return recipes;
}

absl::StatusOr<JobFileText> ReadRecipe(const std::string& name,
                                       const std::vector<std::string>& directories) {
  return FileSystemReader(directories)(name, "");
}

}  // namespace trainyard
