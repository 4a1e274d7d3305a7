// The grammar of the whole program.
#ifndef TRAINYARD_CLI_ALL_COMMANDS_H_
#define TRAINYARD_CLI_ALL_COMMANDS_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the shared options and every command. Call once.
void BuildGrammar(Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_ALL_COMMANDS_H_
