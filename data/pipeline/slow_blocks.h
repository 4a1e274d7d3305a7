// Decides which blocks in work are printed because they take long.
#ifndef TRAINYARD_DATA_PIPELINE_SLOW_BLOCKS_H_
#define TRAINYARD_DATA_PIPELINE_SLOW_BLOCKS_H_

#include <cstddef>
#include <set>
#include <string>

#include "data/pipeline/run_telemetry.h"
#include "data/stages/plan.h"

namespace trainyard::data {

// A user finds the document that delays a run by the file and the position of its block. The
// telemetry has only numbers.
class SlowBlocks {
 public:
  static constexpr double kSeconds = 60;
  static constexpr size_t kLinesMax = 10;

  // `plan` must outlive the object.
  explicit SlowBlocks(const Plan& plan) : plan_(plan) {}

  // Returns a line for a block that has been in work for kSeconds. Otherwise returns "", also if
  // the block was printed before and after kLinesMax lines.
  std::string LineOf(const RunningBlock& slow);

 private:
  const Plan& plan_;
  std::set<size_t> printed_;  // numbers of blocks
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_SLOW_BLOCKS_H_
