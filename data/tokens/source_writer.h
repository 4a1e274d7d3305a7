// Writes the inputs of the documents of a split.
#ifndef TRAINYARD_DATA_TOKENS_SOURCE_WRITER_H_
#define TRAINYARD_DATA_TOKENS_SOURCE_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokens/hashed_file.h"
#include "data/tokens/source_format.h"

namespace trainyard::data {

// Needs memory for the documents of one group, and 24 bytes for each group of 1,024 documents.
class SourceWriter {
 public:
  // Writes directory/<split>.sources.
  static absl::StatusOr<std::unique_ptr<SourceWriter>> Create(const std::string& directory,
                                                              const std::string& split);

  // Adds the next document of the split. `tokens` includes the tokens around the document.
  absl::Status Add(const SourcePlace& place, int64_t tokens);
  // Closes the file.
  absl::StatusOr<TokenFileFacts> Finish();

 private:
  explicit SourceWriter(std::unique_ptr<HashedFile> file) : file_(std::move(file)) {}

  void AddFile(const SourcePlace& place);
  absl::Status EndGroup();
  absl::Status Write(std::string_view bytes);

  const std::unique_ptr<HashedFile> file_;
  int64_t bytes_ = 0;  // written to the file
  std::string group_;  // the documents that are not yet in the file
  SourcePlace last_;   // of the previous document in the group
  uint64_t documents_ = 0;
  uint64_t tokens_ = 0;
  uint64_t first_token_ = 0;  // of the group
  std::vector<source_format::Group> groups_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_SOURCE_WRITER_H_
