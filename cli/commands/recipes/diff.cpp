#include "cli/commands/recipes/diff.h"

#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/output/readable.h"
#include "cli/output/stable_json.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/recipe_files.h"
#include "proto/json/message_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Settings of a file by their dotted keys.
using FlatSettings = std::map<std::string, std::string>;

void Flatten(const nlohmann::json& value, const std::string& key, FlatSettings& flat) {
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) {
      Flatten(inner, key.empty() ? name : absl::StrCat(key, ".", name), flat);
    }
  } else {
    flat[key] = value.is_string() ? value.get<std::string>() : DumpJson(value, -1);
  }
}

absl::StatusOr<FlatSettings> SettingsOf(const std::string& name, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const ResolvedSpec resolved,
      ResolveJobFile(name, {}, FileSystemReader(context.recipe_directories)));
  FlatSettings flat;
  Flatten(MessageToJson(resolved.spec), "", flat);
  return flat;
}

std::string ValueOf(const FlatSettings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "" : found->second;
}

}  // namespace

void AddRecipeDiff(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<RecipeDiffOptions>();
  CLI::App* command =
      noun.add_subcommand("diff", "Show the settings that differ between two recipes");
  command->add_option("a", options->a, "first recipe or job file")->required();
  command->add_option("b", options->b, "second recipe or job file")->required();
  grammar.runners[command] = [options](Context& context) {
    return RunRecipeDiff(*options, context);
  };
}

Outcome RunRecipeDiff(const RecipeDiffOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const FlatSettings left, SettingsOf(options.a, context));
  TRAINYARD_ASSIGN_OR_RETURN(const FlatSettings right, SettingsOf(options.b, context));
  FlatSettings all = left;
  all.insert(right.begin(), right.end());
  Listing listing;
  listing.columns = {{"SETTING"}, {"A", false, false, true}, {"B", false, false, true}};
  for (const auto& [key, unused] : all) {
    const std::string was = ValueOf(left, key), is = ValueOf(right, key);
    if (was == is) continue;
    listing.rows.push_back({{key, TextOrNothing(was), TextOrNothing(is)},
                            key,
                            {{"setting", key}, {"a", was}, {"b", is}}});
  }
  PrintListing(listing, context.format, context.console);
  return listing.rows.empty() ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace trainyard::cli
