// Names of the parts of a run.
#ifndef TRAINYARD_DATA_STAGES_PART_NAMES_H_
#define TRAINYARD_DATA_STAGES_PART_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::data {

// Endings of parts: compressed lines, and numbers for a later step.
inline constexpr std::string_view kLinesEnding = ".jsonl.zst";
inline constexpr std::string_view kBinaryEnding = ".bin";

// The right to process a block.
struct BlockLease {
  size_t block = 0;  // in the plan
  // Differs from the number of every other lease, also of other processes. Two processes with a
  // lease of the same block therefore write different files.
  uint64_t number = 0;
};

class PartNames {
 public:
  // `directory` must be absolute. `blocks`: the number of blocks of the plan.
  PartNames(std::string directory, size_t blocks);

  const std::string& directory() const { return directory_; }

  // "<stream>-00012.jsonl.zst". All names of a stream have the same length, so that their order is
  // that of the blocks.
  std::string Name(const std::string& stream, size_t block,
                   std::string_view ending = kLinesEnding) const;
  // The name of the part until the block is recorded.
  static std::string UnfinishedName(const BlockLease& lease, const std::string& name);

  // True for the results of Name and of UnfinishedName.
  static bool IsPart(std::string_view name);
  static bool IsUnfinished(std::string_view name);

 private:
  std::string directory_;
  int digits_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_PART_NAMES_H_
