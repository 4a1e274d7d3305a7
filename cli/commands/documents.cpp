// Commands that need no controller: explain, schema and recipes.
#include <algorithm>
#include <filesystem>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "cli/output/readable.h"
#include "proto/jobspec/reader.h"
#include "proto/jobspec/schema.h"
#include "proto/support/status_macros.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

// A job file that other job files extend, or that `submit` takes by its name.
struct Recipe {
  std::string name;
  std::string description;
  std::string path;
};

// Reads only the description: a recipe may lack settings that a job needs, such as data.path.
std::string DescriptionOf(const std::string& text) {
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) return "";
    // IsScalar throws for a key that is missing.
    const YAML::Node description = root["description"];
    if (description.IsDefined() && description.IsScalar()) return description.Scalar();
  } catch (const YAML::Exception&) {
    return "(not readable as YAML)";
  }
  return "";
}

// The recipes (*.yaml) in the directories, by name. A recipe in an earlier directory hides one of
// the same name in a later one, as for `extends` in job files.
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
      recipes.push_back({name, file.ok() ? DescriptionOf(file->text) : "", entry.path().string()});
    }
  }
  std::sort(recipes.begin(), recipes.end(),
            [](const Recipe& a, const Recipe& b) { return a.name < b.name; });
  return recipes;
}

}  // namespace

Outcome RunExplain(const std::string& key, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, ExplainJobFileKey(key));
  if (context.format == OutputFormat::kJson || context.format == OutputFormat::kYaml) {
    PrintDocument({{"key", key}, {"text", text}}, key, context.format, context.console);
    return ExitCode::kOk;
  }
  *context.console.out << text;
  if (text.empty() || text.back() != '\n') *context.console.out << "\n";
  return ExitCode::kOk;
}

// A JSON Schema has no table: every format but YAML prints JSON.
Outcome RunSchema(Context& context) {
  const OutputFormat format =
      context.format == OutputFormat::kYaml ? OutputFormat::kYaml : OutputFormat::kJson;
  PrintDocument(JobFileSchema(), "", format, context.console);
  return ExitCode::kOk;
}

Outcome RunRecipeList(Context& context) {
  Listing listing;
  listing.columns = {{"RECIPE"}, {"DESCRIPTION", false, false, true}, {"FILE", false, true}};
  for (const Recipe& recipe : FindRecipes(context.recipe_directories)) {
    listing.rows.push_back(
        {{recipe.name, OneLine(recipe.description), recipe.path},
         recipe.name,
         {{"name", recipe.name}, {"description", recipe.description}, {"file", recipe.path}}});
  }
  PrintListing(listing, context.format, context.console);
  if (listing.rows.empty()) {
    PrintNote(context.console, "no recipes were found; --recipes DIR names a folder of them");
  }
  return ExitCode::kOk;
}

// Prints the file as it is, with its comments, whatever the output format.
Outcome RunRecipeShow(const std::string& name, Context& context) {
  std::vector<std::string> names;
  for (const Recipe& recipe : FindRecipes(context.recipe_directories)) {
    names.push_back(recipe.name);
    if (recipe.name != name) continue;
    TRAINYARD_ASSIGN_OR_RETURN(const JobFileText file,
                               FileSystemReader(context.recipe_directories)(recipe.path, ""));
    *context.console.out << file.text;
    return ExitCode::kOk;
  }
  const std::string nearest = NearestName(name, names);
  return absl::NotFoundError(absl::StrCat("no recipe `", name, "`",
                                          nearest.empty()
                                              ? "; `trainyard recipes` lists them"
                                              : absl::StrCat("; did you mean `", nearest, "`?")));
}

}  // namespace trainyard::cli
