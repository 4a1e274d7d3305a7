// A resumable pass over all blocks of a plan.
#ifndef TRAINYARD_DATA_STAGES_RUN_PASS_H_
#define TRAINYARD_DATA_STAGES_RUN_PASS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/documents/block_decoder.h"
#include "data/stages/block_queue.h"
#include "data/stages/part_names.h"
#include "data/stages/plan.h"
#include "data/stages/run_blocks.h"
#include "data/stages/run_totals.h"

namespace trainyard::data {

struct RunSettings {
  std::string out;       // directory
  bool replace = false;  // delete an earlier run in the directory
  int threads = 1;
  // Fewer threads run if this is less than kThreadBytes per thread, but at least one.
  int64_t memory_bytes = int64_t{4} << 30;
  DecodeSettings decode;
  BadLinePolicy bad_lines;
};

// Called on the caller's thread.
struct RunObserver {
  // `bytes`: on disk, of the blocks that have no record yet.
  std::function<void(size_t blocks, size_t recorded_blocks, int64_t bytes)> start;
  std::function<void(int64_t bytes)> advance;
};

// Other processes that help with a pass.
class PassHelpers {
 public:
  virtual ~PassHelpers() = default;

  // Lets other processes take blocks of `queue` until Withdraw returns.
  virtual void Offer(BlockQueue* queue) = 0;
  virtual void Withdraw() = 0;
};

struct BlockPass {
  const Plan& plan;
  // As BlockWork, with the names of the parts.
  std::function<absl::StatusOr<BlockRecord>(const BlockLease&, const PartNames&, const Advance&)>
      work;
  // Returns the text of report.json.
  std::function<std::string(const RunTotals&)> report;
};

// Writes the parts, bad.jsonl and report.json. The bytes of these files depend only on the plan and
// on the version of zstd. If the run is complete already, only returns its totals. `helpers` may be
// null.
//
// After an error, a crash or a change of `cancelled`, the same call continues the run and repeats
// only unfinished blocks, of which there is at most one per thread. If several blocks fail, returns
// the error of the first one. Returns Cancelled if `cancelled` was set; the errors of RunDirectory,
// BadLineLog and of the work.
absl::StatusOr<RunTotals> RunPass(const BlockPass& pass, const RunSettings& settings,
                                  const RunObserver& observer, const std::atomic<bool>& cancelled,
                                  PassHelpers* helpers = nullptr);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_RUN_PASS_H_
