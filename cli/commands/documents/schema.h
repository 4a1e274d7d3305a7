// `trainyard schema`: prints the JSON Schema of job files.
#ifndef TRAINYARD_CLI_COMMANDS_DOCUMENTS_SCHEMA_H_
#define TRAINYARD_CLI_COMMANDS_DOCUMENTS_SCHEMA_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddSchema(CLI::App& parent, Grammar& grammar);

Outcome RunSchema(Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_DOCUMENTS_SCHEMA_H_
