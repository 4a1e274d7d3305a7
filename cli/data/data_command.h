// `trainyard data prepare`: converts text files to tokens that the trainer maps.
//
// A separate program, trainyard-data, does the work: libsentencepiece contains an old protobuf,
// which ends the process when linked together with the protobuf of the rest of the CLI.
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
  std::string tokenizer = "byte";   // "byte", "bpe" or "unigram"; "sentencepiece" means bpe
  int64_t vocab_size = 8192;        // bpe and unigram only
  double val_fraction = 0.05;       // of the text, chosen by hash
  std::string field = "text";       // of a JSONL object
  int jobs = 0;                     // threads; 0: one per core
  bool force = false;               // replace an existing data set
  bool quiet = false;               // no progress
};

// Adds the options of `data prepare` to `app`. Parsing fills in `options`.
void AddPrepareOptions(CLI::App& app, DataPrepareOptions* options);

// The command line of trainyard-data for these options; the first element is `program`.
std::vector<std::string> PrepareCommandLine(const std::string& program,
                                            const DataPrepareOptions& options);

// Replaces this process by trainyard-data, in the directory of this program. Returns only on
// failure: 1, after a message on stderr.
int RunDataPrepare(const DataPrepareOptions& options);

// Adds `data prepare` to the command line and returns its command. Parsing fills in `options`.
CLI::App* AddDataCommands(CLI::App& app, DataPrepareOptions* options);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_DATA_COMMAND_H_
