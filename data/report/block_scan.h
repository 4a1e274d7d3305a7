// Reads single documents from the inputs and the parts of a run.
#ifndef TRAINYARD_DATA_REPORT_BLOCK_SCAN_H_
#define TRAINYARD_DATA_REPORT_BLOCK_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "data/stages/read_run.h"

namespace trainyard::data {

// A line in the input of a run.
struct InputPlace {
  size_t file = 0;   // in the plan
  int64_t line = 0;  // of the file, from 0; 0 for plain text
};

// Number of line ends in the file of a block before the block.
int64_t LinesBefore(const StoredRun& run, size_t block);

// Returns the place of the document with this index in the input of a block. Reads the block up to
// the document. Returns the errors of ReadDocuments, and NotFound if there are fewer documents.
absl::StatusOr<InputPlace> PlaceInInput(const StoredRun& run, size_t block, int64_t index);

// Returns the index, in the input of a block, of the document at a place. Returns the errors of
// ReadDocuments, and NotFound if the place has no document.
absl::StatusOr<int64_t> IndexInInput(const StoredRun& run, size_t block, const InputPlace& place);

// Returns a line of a file, counted from 0, without its line end. Reads the file up to the line.
absl::StatusOr<std::string> ReadLine(const std::string& path, int64_t line);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_BLOCK_SCAN_H_
