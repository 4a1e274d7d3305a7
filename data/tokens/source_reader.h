// Finds the input of a document of a split.
#ifndef TRAINYARD_DATA_TOKENS_SOURCE_READER_H_
#define TRAINYARD_DATA_TOKENS_SOURCE_READER_H_

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokens/dataset_description.h"
#include "data/tokens/source_format.h"
#include "data/tokens/source_group.h"

namespace trainyard::data {

// Reads SPLIT.sources. A lookup reads a few numbers of the index and one group of documents. Keeps
// the last group in memory. Not thread-safe.
class SourceReader {
 public:
  // Returns NotFound if the split has no such file, because an earlier release or another program
  // wrote it, and DataLoss if the file is damaged or belongs to other token files.
  static absl::StatusOr<std::unique_ptr<SourceReader>> Open(const std::string& directory,
                                                            const SplitDescription& split);

  // Returns the document that contains the token. OutOfRange if the split has no such token, and
  // DataLoss if its group is damaged.
  absl::StatusOr<SourceDocument> At(int64_t token);

 private:
  SourceReader(std::string path, std::ifstream file)
      : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status ReadEnding(const SplitDescription& split);
  absl::Status ReadBytes(uint64_t begin, uint64_t count, char* bytes);
  absl::StatusOr<source_format::Group> ReadGroup(uint64_t number);
  // Returns the number of the last group that begins at or before the token.
  absl::StatusOr<uint64_t> FindGroup(int64_t token);
  absl::Status LoadGroup(uint64_t number);
  absl::Status Damaged(const std::string& what) const;

  const std::string path_;
  std::ifstream file_;
  source_format::Ending ending_;
  uint64_t index_begin_ = 0;
  uint64_t loaded_ = 0;                    // number of the group in `documents_`
  std::vector<SourceDocument> documents_;  // empty before the first lookup
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_SOURCE_READER_H_
