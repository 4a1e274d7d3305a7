// Adds up the tokens of a data set by the original directories of its documents.
#ifndef TRAINYARD_DATA_PIPELINE_TOKEN_SOURCES_H_
#define TRAINYARD_DATA_PIPELINE_TOKEN_SOURCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/prepare/splits/split_writers.h"
#include "data/prepare/splits/splits.h"
#include "data/report/source_tracer.h"
#include "data/stages/plan.h"
#include "data/stages/record.h"

namespace trainyard::data {

class TokenSources {
 public:
  explicit TokenSources(int bytes_per_token = 1) : bytes_per_token_(bytes_per_token) {}

  // The next documents are those of this block, in the order of its input.
  void BeginBlock(const Plan& plan, const BlockRecord& record);
  void Add(const EncodedPart& document);

  // Returns the sums, sorted by directory. Empty if the source of a document is unknown, because an
  // earlier release wrote the records.
  std::vector<SourceTotals> Take() const;

 private:
  int64_t bytes_per_token_;
  SourceTracer tracer_;
  std::vector<SourceStretch> stretches_;  // of the documents that remain in the block
  size_t next_ = 0;                       // in stretches_
  std::vector<SourceTotals> totals_;      // by index of the source
  bool is_complete_ = true;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_TOKEN_SOURCES_H_
