// `trainyard completion`: shell completion. The scripts are generated from the grammar, so they are
// always up to date.
#ifndef TRAINYARD_CLI_COMMANDS_DOCUMENTS_COMPLETION_H_
#define TRAINYARD_CLI_COMMANDS_DOCUMENTS_COMPLETION_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddCompletion(CLI::App& parent, Grammar& grammar);

// Returns the completion script for bash, zsh or fish. The script completes commands, options,
// formats and the keys of --set.
std::string CompletionScript(const std::string& shell, const CLI::App& app);

Outcome RunCompletion(const std::string& shell, const CLI::App& app, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_DOCUMENTS_COMPLETION_H_
