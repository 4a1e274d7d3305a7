// Settings of `trainyard data prepare`.
#ifndef TRAINYARD_DATA_PREPARE_PREPARE_OPTIONS_H_
#define TRAINYARD_DATA_PREPARE_PREPARE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::data {

struct PrepareOptions {
  std::vector<std::string> inputs;  // files or directories
  std::string out;                  // directory to create
  std::string tokenizer = "byte";   // "byte", "bpe" or "unigram"; "sentencepiece" is "bpe"
  int64_t vocab_size = 8192;        // for bpe and unigram only
  double val_fraction = 0.05;       // part of the text used for validation, chosen by hash
  std::string field = "text";       // key of the text in each JSONL object
  std::string utf8 = "strict";      // "strict" refuses invalid UTF-8, "replace" inserts U+FFFD
  std::string bad = "skip";         // bad JSON lines: "skip" omits them, "stop" is an error
  double bad_fraction = 0.001;      // of the lines; "skip" accepts no more bad lines than this
  int jobs = 0;                     // number of threads; 0: one per core
  bool force = false;               // replace an existing data set
  bool quiet = false;               // no progress
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_PREPARE_OPTIONS_H_
