#include "data/pipeline/document_places.h"

#include "data/input/input_files.h"
#include "data/report/source_entries.h"

namespace trainyard::data {

void DocumentPlaces::BeginBlock(const BlockRecord& record) {
  if (plan_.blocks()[record.block].range_begin == 0) file_lines_ = 0;
  first_line_ = file_lines_;
  // A block of several files contains only whole files. The next block therefore begins a file.
  file_lines_ += record.lines.empty() ? 0 : record.lines.back().lines.line_ends;
  files_ = record.counts.files;
  next_ = 0;
  left_ = 0;
}

const SourcePlace& DocumentPlaces::Next(const EncodedPart& document) {
  while (left_ == 0 && next_ < files_.size()) {
    left_ = files_[next_].documents_in;
    BeginFile(files_[next_++].file);
  }
  --left_;
  place_.position = document.position + (place_.is_line ? first_line_ : 0);
  return place_;
}

void DocumentPlaces::BeginFile(size_t file) {
  const InputFile& input = plan_.files()[file].input;
  place_.file = AbsoluteBelow(plan_.working_directory(), input.path);
  place_.is_line = HasLines(input.kind);
}

}  // namespace trainyard::data
