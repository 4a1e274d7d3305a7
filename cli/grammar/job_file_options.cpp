#include "cli/grammar/job_file_options.h"

#include "cli/context/input_text.h"
#include "cli/output/files/stable_json.h"
#include "proto/contract/limits.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// The name of a job file from standard input, in messages and origins.
constexpr char kStandardInput[] = "standard input";

absl::StatusOr<ResolvedSpec> ResolveFile(const std::string& file,
                                         const std::vector<std::string>& overrides,
                                         const Context& context) {
  JobFileReader files = FileSystemReader(context.recipe_directories);
  if (file != "-") return ResolveJobFile(file, overrides, files);
  TRAINYARD_ASSIGN_OR_RETURN(std::string text,
                             ReadInputText(file, kMaxJobFileBytes, context.console));
  return ResolveJobFile(kStandardInput, overrides,
                        LocalTextReader(kStandardInput, std::move(text), std::move(files)));
}

}  // namespace

CLI::Option* AddJobFileOptions(CLI::App& command, JobFileOptions& options) {
  CLI::Option* file =
      command.add_option("file", options.file, "job file, recipe name, or - for standard input")
          ->required();
  // The option accepts one argument, like the options below. With more arguments, the file in
  // `--set a=1 file` would be read as a second setting.
  command
      .add_option("--set", options.sets,
                  "override a setting, such as train.steps=200; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--name", options.name, "name of the job");
  return file;
}

absl::StatusOr<ResolvedSpec> ResolveJobFileOptions(const JobFileOptions& options,
                                                   const Context& context) {
  std::vector<std::string> overrides = options.sets;
  if (!options.name.empty()) overrides.push_back("name=" + options.name);
  if (!options.command.empty()) {
    // JSON is valid YAML. JSON's quotes make the loader read a word such as "1" as a string.
    overrides.push_back("command=" + DumpJson(options.command, -1));
  }
  absl::StatusOr<ResolvedSpec> resolved = ResolveFile(options.file, overrides, context);
  if (!resolved.ok()) {
    // The code is always INVALID_ARGUMENT, even if the file cannot be read, because the user named
    // the file.
    return absl::InvalidArgumentError(resolved.status().message());
  }
  if (!options.name.empty()) resolved->origins["name"] = "--name";
  if (!options.command.empty()) resolved->origins["command"] = "command line";
  return resolved;
}

}  // namespace trainyard::cli
