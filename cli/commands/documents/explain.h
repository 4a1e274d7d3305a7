// `trainyard explain`: explains one setting of job files, or all of them.
#ifndef TRAINYARD_CLI_COMMANDS_DOCUMENTS_EXPLAIN_H_
#define TRAINYARD_CLI_COMMANDS_DOCUMENTS_EXPLAIN_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddExplain(CLI::App& parent, Grammar& grammar);

// `key` is a setting; empty: all settings.
Outcome RunExplain(const std::string& key, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_DOCUMENTS_EXPLAIN_H_
