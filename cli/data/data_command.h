// `trainyard data prepare`: converts text files to token files, which the trainer maps into memory.
//
// The work is done by a separate program, trainyard-data, because it needs libsentencepiece. That
// library contains an old protobuf, and a process that also links the CLI's protobuf would abort.
#ifndef TRAINYARD_CLI_DATA_DATA_COMMAND_H_
#define TRAINYARD_CLI_DATA_DATA_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace trainyard::cli {

struct DataPrepareOptions {
  std::vector<std::string> inputs;  // files or directories
  std::string out;                  // directory to create
  std::string tokenizer = "byte";   // "byte", "bpe" or "unigram"; "sentencepiece" is "bpe"
  int64_t vocab_size = 8192;        // for bpe and unigram only
  double val_fraction = 0.05;       // part of the text used for validation, chosen by hash
  std::string field = "text";       // key of the text in each JSONL object
  int jobs = 0;                     // number of threads; 0: one per core
  bool force = false;               // replace an existing data set
  bool quiet = false;               // no progress
};

// Adds the options of `data prepare` to `app`. Parsing the command line stores their values in
// `options`.
void AddPrepareOptions(CLI::App& app, DataPrepareOptions* options);

// Returns the command line of trainyard-data for these options. Its first word is `program`.
std::vector<std::string> PrepareCommandLine(const std::string& program,
                                            const DataPrepareOptions& options);

// Replaces this process with trainyard-data, which must be in the same directory as this program.
// If that fails, prints a message on stderr and returns 1.
int RunDataPrepare(const DataPrepareOptions& options);

// Adds `data prepare` to the command line and returns that command. Parsing the command line stores
// the values in `options`.
CLI::App* AddDataCommands(CLI::App& app, DataPrepareOptions* options);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_DATA_COMMAND_H_
