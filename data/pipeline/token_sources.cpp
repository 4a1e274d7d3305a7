#include "data/pipeline/token_sources.h"

#include <algorithm>

namespace trainyard::data {

void TokenSources::BeginBlock(const Plan& plan, const BlockRecord& record) {
  stretches_ = tracer_.OfBlock(plan, record);
  next_ = 0;
  totals_.resize(tracer_.directories().size());
}

void TokenSources::Add(const EncodedPart& document) {
  while (next_ < stretches_.size() && stretches_[next_].documents == 0) ++next_;
  if (next_ == stretches_.size()) {
    is_complete_ = false;
    return;
  }
  SourceStretch& stretch = stretches_[next_];
  --stretch.documents;
  SourceTotals& totals = totals_[stretch.source];
  ++totals.documents;
  totals.bytes += document.source_bytes;
  totals.tokens += static_cast<int64_t>(document.packed_bytes) / bytes_per_token_;
}

std::vector<SourceTotals> TokenSources::Take() const {
  std::vector<SourceTotals> sorted;
  if (!is_complete_) return sorted;
  for (size_t i = 0; i < totals_.size(); ++i) {
    if (totals_[i].documents == 0) continue;
    sorted.push_back(totals_[i]);
    sorted.back().directory = tracer_.directories()[i];
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const SourceTotals& a, const SourceTotals& b) { return a.directory < b.directory; });
  return sorted;
}

}  // namespace trainyard::data
