// Shell completion, generated from the grammar so that it is always up to date.
#ifndef TRAINYARD_CLI_GRAMMAR_COMPLETION_H_
#define TRAINYARD_CLI_GRAMMAR_COMPLETION_H_

#include <string>

#include "cli/commands/commands.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

// Script for bash, zsh or fish: commands, options, formats and the keys of --set.
std::string CompletionScript(const std::string& shell, const CLI::App& app);

Outcome RunCompletion(const std::string& shell, const CLI::App& app, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_COMPLETION_H_
