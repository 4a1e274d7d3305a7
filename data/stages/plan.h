// The plan of a run: its input files, their division into blocks, and all settings that influence
// the output.
#ifndef TRAINYARD_DATA_STAGES_PLAN_H_
#define TRAINYARD_DATA_STAGES_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/input/input_files.h"

namespace trainyard::data {

struct PlanLimits {
  // Size of a block. The last line of a block may make it larger.
  int64_t block_bytes = int64_t{16} << 20;
  // Small files that are not compressed share a block. The limit keeps blocks of .pod files, for
  // which a program is started per file, short.
  size_t files_per_block = 256;
  // For files that this program wrote: their times are not part of the plan. Their contents are
  // recognized by the checksum at the end of each zstd frame.
  bool ignores_times = false;
};

inline constexpr int64_t kNoTime = -1;

struct PlanFile {
  InputFile input;
  int64_t modified_ns = 0;  // since 1970; kNoTime with PlanLimits::ignores_times
  uint64_t head_hash = 0;   // XXH64 of the first 64 KiB
  uint64_t tail_hash = 0;   // XXH64 of the last 64 KiB
};

// The unit of work. Either whole files, or the lines or row groups that begin in a range of one
// file.
struct PlanBlock {
  size_t first_file = 0;
  size_t end_file = 0;      // behind the last file
  int64_t range_begin = 0;  // of the first file, in bytes on disk
  int64_t range_end = 0;    // of the last file

  bool operator==(const PlanBlock&) const = default;
};

class Plan {
 public:
  // An input directory that another run wrote. Because the hash of a plan contains those of its
  // runs, it names the whole chain of runs.
  struct Run {
    std::string directory;  // as in the paths of the files
    std::string plan;       // hash
  };

  // Reads the size, the time of modification, the head and the tail of each file. Blocks are in the
  // order of `files`. A compressed file is one block. `settings` must contain everything else that
  // influences the output, including a version of the code.
  //
  // Returns the errors of SystemError for files that cannot be read. Returns InvalidArgument for a
  // file of plain text or POD that is longer than the longest document.
  static absl::StatusOr<Plan> Make(const std::vector<InputFile>& files,
                                   nlohmann::ordered_json settings, const PlanLimits& limits = {});

  // Reads a text of ToJson. Returns DataLoss if it is damaged or of another version. The kinds of
  // the files follow from their names.
  static absl::StatusOr<Plan> FromJson(const std::string& text);

  const nlohmann::ordered_json& settings() const { return settings_; }
  // Paths of files that are not absolute are relative to this directory; "" if there are none.
  const std::string& working_directory() const { return working_directory_; }
  const std::vector<Run>& runs() const { return runs_; }
  const std::vector<PlanFile>& files() const { return files_; }
  const std::vector<PlanBlock>& blocks() const { return blocks_; }
  // Makes the paths of the files absolute. The plan then no longer has the text of its plan.json.
  void MakePathsAbsolute();

  // Number of bytes on disk that a block reads.
  int64_t BytesOf(const PlanBlock& block) const;

  // Contents of plan.json. Equal plans have equal texts.
  std::string ToJson() const;
  // XXH64 of the text, in 16 hexadecimal digits. Names the run.
  std::string Hash() const;

 private:
  void AddBlocks(const PlanLimits& limits);
  void AddBlocksOfFile(size_t file, const PlanLimits& limits);

  nlohmann::ordered_json settings_;
  std::string working_directory_;
  std::vector<Run> runs_;
  std::vector<PlanFile> files_;
  std::vector<PlanBlock> blocks_;
};

// Returns DataLoss if the file has another size or time of modification than in the plan.
absl::Status CheckUnchanged(const PlanFile& file);

// Describes the first differences between two texts of plan.json: "a.jsonl has changed, setting
// \"rules\" was ...". `before` need not be a plan.
std::string PlanChanges(const std::string& before, const std::string& now);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_PLAN_H_
