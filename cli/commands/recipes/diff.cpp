#include "cli/commands/recipes/diff.h"

#include <memory>
#include <string>
#include <utility>

#include "cli/output/jobs/spec_difference.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/recipe_files.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

absl::StatusOr<v1::JobSpec> SpecOf(const std::string& name, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(
      ResolvedSpec resolved,
      ResolveJobFile(name, {}, FileSystemReader(context.recipe_directories)));
  return std::move(resolved.spec);
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
  TRAINYARD_ASSIGN_OR_RETURN(const v1::JobSpec left, SpecOf(options.a, context));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::JobSpec right, SpecOf(options.b, context));
  const Listing listing = SpecDifference({"a", left}, {"b", right});
  PrintListing(listing, context.format, context.console);
  return listing.rows.empty() ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace trainyard::cli
