// The grammar of the whole command line.
#ifndef TRAINYARD_CLI_ALL_COMMANDS_H_
#define TRAINYARD_CLI_ALL_COMMANDS_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the shared options and every command. Must be called once.
void BuildGrammar(Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_ALL_COMMANDS_H_
