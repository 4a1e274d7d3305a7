// Settings of the commands of `trainyard data`.
#ifndef TRAINYARD_DATA_PREPARE_COMMAND_PREPARE_OPTIONS_H_
#define TRAINYARD_DATA_PREPARE_COMMAND_PREPARE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::data {

// Settings of all commands that read text.
struct InputOptions {
  std::vector<std::string> inputs;  // files or directories
  std::string field = "text";       // key of the text in each JSONL object; Parquet column
  std::string utf8 = "strict";      // "strict" refuses invalid UTF-8, "replace" inserts U+FFFD
  std::string bad = "skip";         // bad JSON lines: "skip" omits them, "stop" is an error
  double bad_fraction = 0.001;      // of the lines; "skip" accepts no more bad lines than this
  int jobs = 0;                     // number of threads; 0: one per core
  bool quiet = false;               // no progress
};

// Settings of tokenizers that are read from files.
struct TokenizerOptions {
  std::string family;                 // for files without a split rule; "": recognize it
  std::string special_text = "text";  // special tokens in the text: "text" or "id"
  std::string end_of_document;        // text of the token; "": that of the family
};

struct PrepareOptions : InputOptions {
  std::string out;  // directory to create
  // "byte"; "bpe" or "unigram", which are trained on the inputs; "sentencepiece", which is "bpe";
  // otherwise a source for LoadTokenizer.
  std::string tokenizer = "byte";
  TokenizerOptions tokenizer_options;
  int64_t vocab_size = 8192;     // for bpe and unigram only
  double val_fraction = 0.05;    // part of the text used for validation, chosen by hash
  std::vector<std::string> val;  // files or directories used for validation instead of a fraction
  std::string format = "trainyard";  // NameOf(OutputFormat)
  bool force = false;                // replace an existing data set
};

struct VerifyOptions {
  std::string directory;  // a data set of `data prepare`
  bool quiet = false;     // no progress
};

struct DecontaminateOptions : InputOptions {
  std::string out;                   // directory to create or continue
  std::vector<std::string> against;  // files or directories of evaluation sets
  std::string against_field;         // key of the text in their JSON lines; "": `field`
  int ngram = 13;                    // see OverlapSettings
  int min_words = 8;
  int64_t min_hits = 1;
  double min_share = 0;
  int64_t memory_mib = 4096;
  bool force = false;  // delete an earlier run in the directory
};

struct ReportOptions {
  std::string directory;                // the output of a data command
  std::string output = "text";          // or "json"
  bool texts = false;                   // add texts of documents to the JSON
  std::vector<std::string> tokenizers;  // "byte", "gpt2" or sources for LoadTokenizer
};

struct ShowOptions {
  std::string directory;                // the output of a data command
  std::string document;                 // see FindRunDocument and FindTokenDocument
  std::vector<std::string> tokenizers;  // "byte", "gpt2" or sources for LoadTokenizer
  TokenizerOptions tokenizer_options;
  int64_t max_bytes = 10000;    // of the text that is shown
  std::string output = "text";  // or "json"
};

// A sample of a training step, as computed by RunSamples.
struct StepSample {
  int64_t index = 0;        // in the step, from 0
  int64_t number = 0;       // in the run, from 0
  int64_t position = 0;     // in the order of samples
  int64_t data_index = 0;   // of its ranks along dp
  int64_t source = 0;       // index of its data set
  int64_t place_index = 0;  // index in the order of its data set

  bool operator==(const StepSample&) const = default;
};

struct StepDocumentsOptions {
  std::string job;  // for the output
  int64_t step = 0;
  int64_t batch = 0;  // number of samples in the step
  int64_t seq_length = 1;
  uint64_t seed = 0;                 // data.seed
  std::vector<std::string> sources;  // paths of the data sets, in the order of the job
  std::vector<StepSample> samples;   // those to show
  int64_t trained_ms = 0;            // when the attempt started, Unix milliseconds; 0: unknown
  bool accepts_changed = false;      // show also data sets that were written later
  int64_t max_bytes = 200;           // of each text
  std::string output = "text";       // or "json"
};

struct InspectOptions : InputOptions {
  std::string output = "text";  // or "json"
};

struct CountOptions : InputOptions {
  std::vector<std::string> tokenizers;  // "byte" or sources for LoadTokenizer
  TokenizerOptions tokenizer_options;
  std::string output = "table";  // or "json"
};

struct TrainTokenizerOptions : InputOptions {
  std::string out;  // path of the new tokenizer.json
  int64_t vocab_size = 32000;
  int64_t min_frequency = 2;
  std::string special = "<|endoftext|>";  // special tokens, separated by commas
  std::string unit = "line";              // or "document"
  int64_t memory_mib = 4096;
  bool force = false;  // replace an existing file
};

struct FilterOptions : InputOptions {
  std::string rules;  // for Filter::Load
  std::string out;    // directory to create or to continue
  int64_t memory_mib = 4096;
  bool force = false;  // delete an earlier run in the directory
};

struct DedupOptions : InputOptions {
  std::string out;                   // directory to create or continue
  std::string preset = "near";       // see PresetSettings
  std::optional<double> threshold;   // similarity of duplicates; empty: that of the preset
  std::string keep;                  // "greedy", "components"; "": that of the preset
  std::vector<std::string> against;  // files or directories whose documents are dropped
  std::string scratch;               // existing directory; "": next to `out`
  int64_t memory_mib = 2048;
  bool force = false;  // delete an earlier run in the directory
};

struct MixOptions {
  std::string file;         // for ReadMixFile
  std::string out;          // directory to create
  int64_t tokens = 0;       // number of tokens of the run; 0: unknown
  int64_t step_tokens = 0;  // number of tokens of a step; 0: unknown
  bool force = false;       // replace an existing directory of `data mix`
};

struct PipelineOptions {
  std::string pipeline;  // path of a pipeline file
  bool quiet = false;    // no progress
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_COMMAND_PREPARE_OPTIONS_H_
