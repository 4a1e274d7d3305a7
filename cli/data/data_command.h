// `trainyard data prepare`: text files to tokens that the trainer maps.
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
  std::string out;                  // directory to make
  std::string tokenizer = "byte";   // "byte", "bpe" or "unigram" ("sentencepiece" means bpe)
  int64_t vocab_size = 8192;        // sentencepiece only
  double val_fraction = 0.05;       // of the documents, chosen by hash of their text
  std::string field = "text";       // of a JSONL object
  int jobs = 0;                     // threads; 0: one a core
  bool force = false;               // replace `out` when it exists
  bool quiet = false;               // no progress
};

// Makes the data set. Prints progress to stderr and a summary to stdout. Returns the exit code of
// the program: 0, or after one clear message on stderr 1 (bad data, or cannot write), 2 (bad
// option) or 3 (no such input). On any failure `out` is as it was before.
int RunDataPrepare(const DataPrepareOptions& options);

// Adds `data prepare` to the command line. When the user chose it, the exit code of the run is put
// into *exit_code by the subcommand's callback.
void AddDataCommands(CLI::App& app, int* exit_code);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_DATA_COMMAND_H_
