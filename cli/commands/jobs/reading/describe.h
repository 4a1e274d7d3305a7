// `trainyard describe`: shows the details of a job or of one attempt.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_DESCRIBE_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_DESCRIBE_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddDescribe(CLI::App& parent, Grammar& grammar);

// `job`: a job, or an attempt in the form NAME@ATTEMPT.
Outcome RunDescribe(const std::string& job, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_DESCRIBE_H_
