// Commands on recipes: list, show, check and diff. None needs a controller.

#include <cstring>
#include <map>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "cli/output/readable.h"
#include "cli/recipes/recipe_check.h"
#include "proto/contract/durable_file.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/recipe_files.h"
#include "proto/json/message_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

std::string CountOrNothing(int64_t count) { return count > 0 ? absl::StrCat(count) : kNothing; }

nlohmann::json ReportDocument(const RecipeReport& report) {
  nlohmann::json document = {{"name", report.name},   {"kind", report.kind},
                             {"parameters", nullptr}, {"active_parameters", nullptr},
                             {"tokens", nullptr},     {"findings", nlohmann::json::array()}};
  if (report.parameters > 0) {
    document["parameters"] = report.parameters;
    document["active_parameters"] = report.active_parameters;
  }
  if (report.tokens > 0) document["tokens"] = report.tokens;
  for (const planner::Finding& finding : report.findings) {
    document["findings"].push_back(
        {{"what", finding.what}, {"why", finding.why}, {"right", finding.right}});
  }
  return document;
}

Row ReportRow(const RecipeReport& report) {
  const std::string result =
      report.findings.empty()
          ? "ok"
          : absl::StrCat(report.findings.size(),
                         report.findings.size() == 1 ? " finding" : " findings");
  return {
      {report.name, CountOrNothing(report.parameters), CountOrNothing(report.active_parameters),
       report.tokens > 0 ? CompactNumber(report.tokens) : kNothing, OneLine(report.kind), result},
      report.name,
      ReportDocument(report)};
}

// One line per finding, after the table.
void PrintFindings(const std::vector<RecipeReport>& reports, Console& console) {
  for (const RecipeReport& report : reports) {
    for (const planner::Finding& finding : report.findings) {
      *console.out << OneLine(absl::StrCat(report.name, ": ", finding.what, ": ", finding.why,
                                           finding.right.empty() ? "" : "; right: ", finding.right))
                   << "\n";
    }
  }
}

absl::Status Renew(const JobFileText& file, const JobFileReader& reader, RecipeReport& report) {
  if (report.renewed.empty() || report.renewed == file.text) return absl::OkStatus();
  const FileResult failed = WriteFileAtomically(file.display_name, report.renewed, {.mode = 0644});
  if (failed.has_value()) {
    return absl::UnknownError(absl::StrCat(failed->action, ": ", std::strerror(failed->number)));
  }
  report = CheckRecipe({file.display_name, report.renewed}, reader);
  return absl::OkStatus();
}

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

// Prints the file unchanged, with its comments, in any output format.
Outcome RunRecipeShow(const std::string& name, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const JobFileText file, ReadRecipe(name, context.recipe_directories));
  *context.console.out << file.text;
  return ExitCode::kOk;
}

Outcome RunRecipeCheck(const RecipeCheckOptions& options, Context& context) {
  std::vector<std::string> names = options.names;
  if (options.all) {
    for (const Recipe& recipe : FindRecipes(context.recipe_directories)) {
      names.push_back(recipe.path);
    }
  }
  if (names.empty()) {
    return absl::InvalidArgumentError("name a recipe or a file, or give --all");
  }
  const JobFileReader reader = FileSystemReader(context.recipe_directories);
  std::vector<RecipeReport> reports;
  Listing listing;
  listing.columns = {{"RECIPE"}, {"PARAMETERS", true}, {"ACTIVE", true}, {"TOKENS", true}, {"KIND"},
                     {"RESULT"}};
  bool sound = true;
  for (const std::string& name : names) {
    TRAINYARD_ASSIGN_OR_RETURN(const JobFileText file,
                               ReadRecipe(name, context.recipe_directories));
    reports.push_back(CheckRecipe(file, reader));
    if (options.renew) TRAINYARD_RETURN_IF_ERROR(Renew(file, reader, reports.back()));
    listing.rows.push_back(ReportRow(reports.back()));
    sound = sound && reports.back().findings.empty();
  }
  PrintListing(listing, context.format, context.console);
  if (IsTable(context.format)) PrintFindings(reports, context.console);
  return sound ? ExitCode::kOk : ExitCode::kFailed;
}

Outcome RunRecipeDiff(const std::string& a, const std::string& b, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const FlatSettings left, SettingsOf(a, context));
  TRAINYARD_ASSIGN_OR_RETURN(const FlatSettings right, SettingsOf(b, context));
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
