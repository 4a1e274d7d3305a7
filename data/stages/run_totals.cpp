#include "data/stages/run_totals.h"

#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::data {

RunTotals::RunTotals(const Plan& plan, const BadLinePolicy& policy)
    : plan_(plan), has_(plan.blocks().size(), false), bad_lines_(policy) {}

absl::Status RunTotals::Add(BlockRecord record) {
  has_[record.block] = true;
  ++blocks_;
  waiting_.emplace(record.block, std::move(record));
  while (!waiting_.empty() && waiting_.begin()->first == next_) {
    TRAINYARD_RETURN_IF_ERROR(AddNext(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
    ++next_;
  }
  return absl::OkStatus();
}

absl::Status RunTotals::AddNext(const BlockRecord& record) {
  const bool begins_file = plan_.blocks()[record.block].range_begin == 0;
  if (begins_file) file_lines_ = 0;
  counts_.documents_in += record.counts.documents_in;
  counts_.documents_out += record.counts.documents_out;
  counts_.bytes_in += record.counts.bytes_in;
  counts_.bytes_out += record.counts.bytes_out;
  for (const auto& [name, sum] : record.counts.sums) counts_.sums[name] += sum;
  for (const auto& [reason, dropped] : record.counts.dropped) {
    AddDropped(reason, dropped, file_lines_);
  }
  for (size_t i = 0; i < record.lines.size(); ++i) {
    RawBlock block;
    block.file = &plan_.files()[record.lines[i].file].input;
    block.begins_file = begins_file || i > 0;
    TRAINYARD_RETURN_IF_ERROR(bad_lines_.Add(block, record.lines[i].lines));
  }
  // A block of several files contains only whole files. The next block therefore begins a file.
  file_lines_ += record.lines.empty() ? 0 : record.lines.back().lines.line_ends;
  return absl::OkStatus();
}

void RunTotals::AddDropped(const std::string& reason, const DroppedDocuments& dropped,
                           int64_t first_line) {
  DroppedTotal& total = dropped_[reason];
  total.documents += dropped.documents;
  total.bytes += dropped.bytes;
  for (const DocumentPlace& place : dropped.samples) {
    if (total.samples.size() == DroppedDocuments::kSamples) break;
    total.samples.push_back(PlaceText(place, first_line));
  }
}

std::string RunTotals::PlaceText(const DocumentPlace& place, int64_t first_line) const {
  const InputFile& file = plan_.files()[place.file].input;
  if (!HasLines(file.kind)) return file.path;
  // Only a block of one file can begin within a file.
  return file.path + ":" + std::to_string(first_line + place.line + 1);
}

}  // namespace trainyard::data
