// `trainyard parse`: shows the metrics that log_parser reads from a file of output.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_PARSE_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_PARSE_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct ParseOptions {
  std::string file;
  std::string kind;  // Empty: the kind that finds most records.
  std::string pattern;
  std::vector<std::string> scale;
  int ranks = 1;
  int limit = 20;
};

// Adds the command and its options.
void AddParse(CLI::App& parent, Grammar& grammar);

Outcome RunParse(const ParseOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_PARSE_H_
