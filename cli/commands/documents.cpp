// Commands that need no controller: explain and schema.
#include <ostream>

#include "cli/commands/commands.h"
#include "proto/jobspec/schema.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
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

// A JSON Schema has no table form: every format except YAML prints JSON.
Outcome RunSchema(Context& context) {
  const OutputFormat format =
      context.format == OutputFormat::kYaml ? OutputFormat::kYaml : OutputFormat::kJson;
  PrintDocument(JobFileSchema(), "", format, context.console);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
