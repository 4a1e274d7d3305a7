// `trainyard extend`: adds time to the time limit of a job.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_EXTEND_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_EXTEND_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct ExtendOptions {
  std::string job;
  std::string by;  // A duration, such as "2h" or "+2h".
};

void AddExtend(CLI::App& parent, Grammar& grammar);

Outcome RunExtend(const ExtendOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_EXTEND_H_
