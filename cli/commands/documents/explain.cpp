#include "cli/commands/documents/explain.h"

#include <memory>
#include <ostream>

#include "cli/output/files/stable_json.h"
#include "proto/jobspec/fields/schema.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void AddExplain(CLI::App& parent, Grammar& grammar) {
  const auto key = std::make_shared<std::string>();
  CLI::App* command =
      parent.add_subcommand("explain", "Explain one setting of the job file, or all settings");
  command->add_option("key", *key, "setting, such as train.seq_length");
  grammar.runners[command] = [key](Context& context) { return RunExplain(*key, context); };
}

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

}  // namespace trainyard::cli
