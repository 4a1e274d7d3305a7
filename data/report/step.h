// The numbers of one step of the chain that produced a data set.
#ifndef TRAINYARD_DATA_REPORT_STEP_H_
#define TRAINYARD_DATA_REPORT_STEP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::data {

// The files that a step read from one directory.
struct StepInput {
  std::string directory;  // absolute
  std::string use;        // "train"; "val", "against" and "blend" for other inputs
  std::string plan;       // hash of the run that had written the directory; "" if none had
  int64_t files = 0;
  int64_t bytes = 0;  // on disk
  // Known if the step is a run, and only for the blocks that it has finished.
  std::optional<int64_t> documents_in;
  std::optional<int64_t> documents_out;
  int64_t bytes_in = 0;  // of text
  int64_t bytes_out = 0;
  // The step that wrote the directory, as an index of ChainReport::steps.
  std::optional<size_t> step;
};

// Documents that a step dropped for the same reason.
struct StepDrop {
  std::string reason;
  int64_t documents = 0;
  int64_t bytes = 0;                 // of text
  std::vector<std::string> samples;  // "FILE:LINE"; "FILE" for plain text
};

// A block that took long.
struct SlowBlock {
  std::string file;   // the first one of the block
  int64_t begin = 0;  // position in the file, on disk
  int64_t bytes = 0;  // on disk
  double seconds = 0;
};

// The tokens of the documents that come from the files of one directory.
struct StepSource {
  std::string directory;  // absolute; "" for the sum of directories that are not listed
  int64_t documents = 0;
  int64_t bytes = 0;  // of text
  int64_t tokens = 0;
};

struct StepSplit {
  std::string name;  // "train" or "val"
  int64_t documents = 0;
  int64_t tokens = 0;
  std::optional<int64_t> bytes;  // of text; unknown for data sets without provenance.json
  std::string xxh64;             // of the tokens; "" if they are in several files
};

struct StepReport {
  static constexpr size_t kSlowBlocksListed = 3;

  std::string directory;  // absolute
  std::string name;       // "filter", "dedup", ...; "prepare" for token files; "mix"
  std::string plan;       // hash of a run; "" for token files
  bool is_complete = true;
  size_t blocks = 0;  // of a run
  size_t blocks_done = 0;
  double seconds = 0;  // of all threads together
  nlohmann::ordered_json settings;
  std::vector<StepInput> inputs;  // sorted by directory
  // If the step is a run, these sums contain its finished blocks up to the first missing block.
  int64_t documents_in = 0;
  int64_t documents_out = 0;
  int64_t bytes_in = 0;  // of text
  int64_t bytes_out = 0;
  int64_t bad_lines = 0;
  int64_t repaired = 0;
  std::vector<StepDrop> dropped;
  std::map<int, int64_t> lengths;  // as DocumentCounts::lengths
  std::vector<SlowBlock> slowest;  // at most kSlowBlocksListed, the slowest first
  nlohmann::ordered_json details;  // as Stage::details; null if there are none

  // The members below describe token files.

  nlohmann::ordered_json tokenizer;  // null for a run
  std::vector<StepSplit> splits;
  // The training documents of both splits by their original directory. Known for token files of
  // `data run`.
  std::vector<StepSource> sources;

  // `sources` with their weights in the first stage, and `stages` of mix.json; null if the step is
  // no blend.
  nlohmann::ordered_json mix;

  // Sentences about missing records and changed inputs, each with the next step.
  std::vector<std::string> problems;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_STEP_H_
