// `trainyard array`: the table of results of an array.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_ARRAY_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_ARRAY_H_

#include <cstdint>
#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct ArrayOptions {
  std::string job;
  std::string sort = "index";
  bool reverse = false;
  int limit = 100;
  int64_t offset = 0;
};

// Adds the command and its options.
void AddArray(CLI::App& parent, Grammar& grammar);

Outcome RunArray(const ArrayOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_ARRAY_H_
