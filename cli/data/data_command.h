// `trainyard data prepare`: converts text files to token files, which the trainer maps into memory.
//
// The work is done by a separate program, trainyard-data, because it needs libsentencepiece. That
// library contains an old protobuf, and a process that also links the CLI's protobuf would abort.
#ifndef TRAINYARD_CLI_DATA_DATA_COMMAND_H_
#define TRAINYARD_CLI_DATA_DATA_COMMAND_H_

#include <string>
#include <vector>

#include "data/prepare/prepare_options.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

// Adds the options of `data prepare` to `app`. Parsing the command line stores their values in
// `options`.
void AddPrepareOptions(CLI::App& app, data::PrepareOptions* options);

// Returns the command line of trainyard-data for these options. Its first word is `program`.
std::vector<std::string> PrepareCommandLine(const std::string& program,
                                            const data::PrepareOptions& options);

// Replaces this process with trainyard-data, which must be in the same directory as this program.
// If that fails, prints a message on stderr and returns 1.
int RunDataPrepare(const data::PrepareOptions& options);

// Adds `data prepare` to the command line and returns that command. Parsing the command line stores
// the values in `options`.
CLI::App* AddDataCommands(CLI::App& app, data::PrepareOptions* options);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_DATA_COMMAND_H_
