#include "data/pipeline/slow_blocks.h"

#include <cstdint>

#include "data/prepare/command/progress.h"

namespace trainyard::data {

std::string SlowBlocks::LineOf(const RunningBlock& slow) {
  if (slow.seconds < kSeconds || printed_.size() == kLinesMax) return "";
  if (!printed_.insert(slow.number).second) return "";
  const PlanBlock& block = plan_.blocks()[slow.number - 1];
  return "block " + std::to_string(slow.number) + " has been in work for " +
         std::to_string(static_cast<int64_t>(slow.seconds)) + " s on rank " +
         std::to_string(slow.rank) + ": " + plan_.files()[block.first_file].input.path +
         ", from byte " + ReadableCount(block.range_begin);
}

}  // namespace trainyard::data
