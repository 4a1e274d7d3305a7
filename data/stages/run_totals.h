// Adds up the records of a run in the order of its blocks, so that the sums and the samples do not
// depend on the order in which blocks end.
#ifndef TRAINYARD_DATA_STAGES_RUN_TOTALS_H_
#define TRAINYARD_DATA_STAGES_RUN_TOTALS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "data/documents/bad_lines.h"
#include "data/input/raw_block.h"
#include "data/stages/plan.h"
#include "data/stages/record.h"

namespace trainyard::data {

struct DroppedTotal {
  int64_t documents = 0;
  int64_t bytes = 0;
  std::vector<std::string> samples;  // "FILE:LINE", or "FILE" for plain text
};

// Not thread-safe.
class RunTotals {
 public:
  // `plan` must outlive the totals.
  RunTotals(const Plan& plan, const BadLinePolicy& policy);

  // Adds the record of a block, once per block and in any order. Returns the errors of BadLineLog,
  // which do not depend on the order.
  absl::Status Add(BlockRecord record);
  // Call after the records of all blocks have been added. Returns the errors of BadLineLog.
  absl::Status Finish() const { return bad_lines_.Finish(); }

  bool Has(size_t block) const { return has_[block]; }
  size_t blocks() const { return blocks_; }

  // The members below include the blocks before the first one without a record.

  int64_t documents_in() const { return counts_.documents_in; }
  int64_t documents_out() const { return counts_.documents_out; }
  int64_t bytes_in() const { return counts_.bytes_in; }
  int64_t bytes_out() const { return counts_.bytes_out; }
  // Keyed by reason.
  const std::map<std::string, DroppedTotal>& dropped() const { return dropped_; }
  const std::map<std::string, int64_t>& sums() const { return counts_.sums; }
  const BadLineLog& bad_lines() const { return bad_lines_; }

 private:
  absl::Status AddNext(const BlockRecord& record);
  void AddDropped(const std::string& reason, const DroppedDocuments& dropped, int64_t first_line);
  std::string PlaceText(const DocumentPlace& place, int64_t first_line) const;

  const Plan& plan_;
  std::vector<bool> has_;
  size_t blocks_ = 0;                      // with records
  size_t next_ = 0;                        // the first block without a record
  std::map<size_t, BlockRecord> waiting_;  // for records of earlier blocks
  DocumentCounts counts_;                  // without `dropped`
  std::map<std::string, DroppedTotal> dropped_;
  BadLineLog bad_lines_;
  int64_t file_lines_ = 0;  // line ends of the current file in earlier blocks
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_RUN_TOTALS_H_
