// The input places of the documents of a pass.
#ifndef TRAINYARD_DATA_PIPELINE_DOCUMENT_PLACES_H_
#define TRAINYARD_DATA_PIPELINE_DOCUMENT_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/prepare/splits/split_writers.h"
#include "data/stages/plan.h"
#include "data/stages/record.h"
#include "data/tokens/source_format.h"

namespace trainyard::data {

class DocumentPlaces {
 public:
  // `plan` must outlive this object.
  explicit DocumentPlaces(const Plan& plan) : plan_(plan) {}

  // The next documents are those of this block, in the order of its input. All blocks of the plan
  // must be passed in their order.
  void BeginBlock(const BlockRecord& record);
  // Returns the place of the next document. Valid until the next call.
  const SourcePlace& Next(const EncodedPart& document);

 private:
  void BeginFile(size_t file);

  const Plan& plan_;
  std::vector<FileCounts> files_;  // of the block
  size_t next_ = 0;                // in files_
  int64_t left_ = 0;               // documents of the current file
  int64_t first_line_ = 0;         // of the block, in its first file
  int64_t file_lines_ = 0;         // in earlier blocks, of the last file
  SourcePlace place_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_DOCUMENT_PLACES_H_
