// The option --svg of planning commands.
#ifndef TRAINYARD_CLI_GRAMMAR_SVG_OPTION_H_
#define TRAINYARD_CLI_GRAMMAR_SVG_OPTION_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds --svg, which takes the path of the figure to write. `help` describes the figure.
CLI::Option* AddSvgOption(CLI::App& command, std::string& path, const char* help);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_SVG_OPTION_H_
