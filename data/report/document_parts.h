// Finds the documents that contain given tokens of a split.
#ifndef TRAINYARD_DATA_REPORT_DOCUMENT_PARTS_H_
#define TRAINYARD_DATA_REPORT_DOCUMENT_PARTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/tokens/dataset_description.h"

namespace trainyard::data {

// Positions of tokens in a split, from 0: [begin, end).
struct TokenRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// The tokens of a document that are in a range.
struct DocumentPart {
  int64_t number = 0;       // of the document in the split, from 1
  int64_t first_token = 0;  // position of the document's first token
  TokenRange tokens;
};

struct RangeDocuments {
  static constexpr size_t kPartsMax = 100;

  std::vector<DocumentPart> parts;  // in order; the first kPartsMax
  int64_t others = 0;               // number of the other documents in the range
};

// Returns the documents of each range. Reads all files of the split once, and compares their sizes
// and checksums with the description. A token that ends documents and occurs in the text divides
// its document. Returns OutOfRange if a range is not inside the split, NotFound or DataLoss for
// missing, unreadable and changed files, and Cancelled.
absl::StatusOr<std::vector<RangeDocuments>> FindDocumentParts(const std::string& directory,
                                                              const SplitDescription& split,
                                                              const std::vector<TokenRange>& ranges,
                                                              const std::atomic<bool>& cancelled);

// Returns the ids of a range inside the split. Returns DataLoss if a file cannot be read.
absl::StatusOr<std::vector<uint32_t>> ReadTokenRange(const std::string& directory,
                                                     const SplitDescription& split,
                                                     const TokenRange& range);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_DOCUMENT_PARTS_H_
