// `trainyard data prepare`: converts text files to token files, which the trainer maps into memory.
//
// A separate program, trainyard-data, does the work. It uses libsentencepiece, which contains an
// old protobuf. If the rest of the CLI, with another protobuf, were linked with it, the process
// would abort.
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
  double val_fraction = 0.05;       // fraction of the text, chosen by hash
  std::string field = "text";       // key of the text in a JSONL object
  int jobs = 0;                     // number of threads; 0: one per core
  bool force = false;               // replace an existing data set
  bool quiet = false;               // no progress
};

// Adds the options of `data prepare` to `app`. Parsing fills in `options`.
void AddPrepareOptions(CLI::App& app, DataPrepareOptions* options);

// Returns the command line of trainyard-data for these options. Its first element is `program`.
std::vector<std::string> PrepareCommandLine(const std::string& program,
                                            const DataPrepareOptions& options);

// Replaces this process by trainyard-data, which is in the directory of this program. Returns only
// on failure, with 1, after printing a message on stderr.
int RunDataPrepare(const DataPrepareOptions& options);

// Adds `data prepare` to the command line and returns its command. Parsing fills in `options`.
CLI::App* AddDataCommands(CLI::App& app, DataPrepareOptions* options);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_DATA_COMMAND_H_
