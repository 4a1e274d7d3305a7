// `trainyard dataset`: the report of the data set that a data job makes.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_DATASET_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_DATASET_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

void AddDataset(CLI::App& parent, Grammar& grammar);
Outcome RunDataset(const std::string& job, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_DATASET_H_
