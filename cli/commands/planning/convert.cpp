#include "cli/commands/planning/convert.h"

#include <iterator>
#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/context/input_text.h"
#include "cli/convert/convert.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/rules.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Returns the reasons why `submit` would reject the converted job, one per line. Relative paths are
// resolved from the folder in which the job file will be.
std::vector<std::string> ProblemsOf(const std::string& text, const Context& context) {
  const absl::StatusOr<ResolvedSpec> resolved = ResolveJobFile(
      kSentJobFile, {},
      LocalTextReader(kSentJobFile, text, FileSystemReader(context.recipe_directories)));
  if (!resolved.ok()) return absl::StrSplit(resolved.status().message(), '\n');
  return CheckLaunch(resolved->spec, {});
}

}  // namespace

void AddConvert(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = parent.add_subcommand(
      "convert", "Convert the command, script or configuration of another trainer to a job file");
  command
      ->add_option("files", options->files,
                   "files that describe one run: command line, sbatch script, TOML, JSON or YAML; "
                   "- reads stdin")
      ->required();
  command->add_option("--from", options->format, "format of the files (default: detect)")
      ->check(CLI::IsMember(ConvertFormats()));
  command
      ->add_option("--nodes", options->nodes,
                   "number of nodes; needed if the files do not specify it")
      ->check(CLI::Range(1, 16384));
  command
      ->add_option("--per-node", options->per_node,
                   "number of GPUs per node; needed if the files do not specify it")
      ->check(CLI::Range(1, 1024));
  command->add_flag(
      "--keep-command", options->keeps_command,
      "run the script's own program, even if trainyard-trainer could train the same model");
  command->add_option("--name", options->name, "name of the job");
  command
      ->add_option("--var", options->variables,
                   "value of a shell variable that the script does not set, as NAME=VALUE; repeat "
                   "for several")
      ->allow_extra_args(false);
  grammar.runners[command] = [options](Context& context) { return RunConvert(*options, context); };
}

Outcome RunConvert(const ConvertOptions& options, Context& context) {
  ConvertRequest request = {
      {}, options.format, options.name, options.nodes, options.per_node, options.keeps_command, {}};
  for (const std::string& variable : options.variables) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--var ", variable, ": is not of the form NAME=VALUE"));
    }
    request.variables[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  for (const std::string& file : options.files) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::string text,
                               ReadInputText(file, kMaxJobFileBytes, context.console));
    request.sources.push_back({file == "-" ? "standard input" : file, text});
  }
  TRAINYARD_ASSIGN_OR_RETURN(const ConvertedJob job, ConvertToJob(request));
  *context.console.out << job.explained;
  for (const std::string& note : job.notes) PrintNote(context.console, note);
  for (const std::string& problem : ProblemsOf(job.text, context)) {
    PrintNote(context.console,
              absl::StrCat("`trainyard submit` would refuse this job file: ", problem));
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
