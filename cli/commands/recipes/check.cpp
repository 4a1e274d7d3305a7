#include "cli/commands/recipes/check.h"

#include <cstring>
#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/output/terminal/readable.h"
#include "cli/recipes/recipe_check.h"
#include "proto/files/durable_file.h"
#include "proto/jobspec/recipe_files.h"
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

// Prints one line per finding, after the table.
void PrintFindings(const std::vector<RecipeReport>& reports, Console& console) {
  for (const RecipeReport& report : reports) {
    for (const planner::Finding& finding : report.findings) {
      *console.out << OneLine(absl::StrCat(report.name, ": ", finding.what, ": ", finding.why,
                                           finding.right.empty() ? "" : "; fix: ", finding.right))
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

}  // namespace

void AddRecipeCheck(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<RecipeCheckOptions>();
  CLI::App* command = noun.add_subcommand("check",
                                          "Check recipes: count parameters, and report impossible "
                                          "settings and wrong `# Claimed` lines");
  command->add_option("names", options->names, "recipes or job files to check");
  command->add_flag("--all", options->all, "check every recipe");
  command->add_flag("--renew", options->renew,
                    "update the `# Expected on` lines to the planner's current predictions");
  grammar.runners[command] = [options](Context& context) {
    return RunRecipeCheck(*options, context);
  };
}

Outcome RunRecipeCheck(const RecipeCheckOptions& options, Context& context) {
  std::vector<std::string> names = options.names;
  if (options.all) {
    for (const Recipe& recipe : FindRecipes(context.recipe_directories)) {
      names.push_back(recipe.path);
    }
  }
  if (names.empty()) {
    return absl::InvalidArgumentError("name a recipe or a file, or pass --all");
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

}  // namespace trainyard::cli
