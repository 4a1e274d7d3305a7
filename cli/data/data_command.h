// `trainyard data`: converts text files to token files, which the trainer maps into memory, checks
// both, and trains tokenizers.
//
// The work is done by a separate program, trainyard-data, because it needs libsentencepiece. That
// library contains an old protobuf, and a process that also links the CLI's protobuf would abort.
#ifndef TRAINYARD_CLI_DATA_DATA_COMMAND_H_
#define TRAINYARD_CLI_DATA_DATA_COMMAND_H_

#include <functional>
#include <string>
#include <vector>

#include "data/prepare/command/prepare_options.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

struct DataOptions {
  data::PrepareOptions prepare;
  data::VerifyOptions verify;
  data::InspectOptions inspect;
  data::CountOptions count;
  data::TrainTokenizerOptions train_tokenizer;
  data::FilterOptions filter;
  data::DedupOptions dedup;
  data::DecontaminateOptions decontaminate;
  data::ReportOptions report;
  data::ShowOptions show;
  data::MixOptions mix;
  data::PipelineOptions run;
};

struct DataCommand {
  const CLI::App* app;
  // Returns the command line of trainyard-data. Its first word is `program`.
  std::function<std::vector<std::string>(const std::string& program)> line;
};

// Adds the commands to `app`. Parsing the command line stores the values in `options`, which must
// outlive the result.
std::vector<DataCommand> AddDataCommands(CLI::App& app, DataOptions* options);

// Replaces this process with trainyard-data, which must be in the same directory as this program.
// If that fails, prints a message on stderr and returns 1.
int RunDataCommand(const DataCommand& command);

// Same as RunDataCommand, for the samples of a training step.
int RunStepDocuments(const data::StepDocumentsOptions& options);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_DATA_COMMAND_H_
