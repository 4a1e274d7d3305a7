// `trainyard experts`: the balance of a job's experts.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_EXPERTS_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_EXPERTS_H_

#include <cstdint>
#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct ExpertsOptions {
  std::string job;
  int64_t step = 0;  // 0: the newest record.
};

void AddExperts(CLI::App& parent, Grammar& grammar);
Outcome RunExperts(const ExpertsOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_EXPERTS_H_
