#include "cli/commands/documents/schema.h"

#include "cli/output/files/stable_json.h"
#include "proto/jobspec/fields/schema.h"

namespace trainyard::cli {

void AddSchema(CLI::App& parent, Grammar& grammar) {
  CLI::App* command = parent.add_subcommand("schema", "Print the JSON Schema of job files");
  grammar.runners[command] = [](Context& context) { return RunSchema(context); };
}

// Prints JSON for every format except YAML, because a JSON Schema has no table form.
Outcome RunSchema(Context& context) {
  const OutputFormat format =
      context.format == OutputFormat::kYaml ? OutputFormat::kYaml : OutputFormat::kJson;
  PrintDocument(JobFileSchema(), "", format, context.console);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
