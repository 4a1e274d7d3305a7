#include "cli/grammar/grammar.h"

#include "absl/strings/str_cat.h"

namespace trainyard::cli {

const std::map<std::string, OutputFormat>& OutputFormats() {
  static const std::map<std::string, OutputFormat> formats = {
      {"table", OutputFormat::kTable}, {"wide", OutputFormat::kWide}, {"json", OutputFormat::kJson},
      {"yaml", OutputFormat::kYaml},   {"name", OutputFormat::kName}, {"csv", OutputFormat::kCsv}};
  return formats;
}

const CLI::App& ChosenCommand(const CLI::App& app) {
  // After parsing, get_subcommands() returns only the subcommands named on the command line.
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  return *command;
}

std::string FullName(const CLI::App& command) {
  return command.get_parent() == nullptr
             ? command.get_name()
             : absl::StrCat(FullName(*command.get_parent()), " ", command.get_name());
}

}  // namespace trainyard::cli
