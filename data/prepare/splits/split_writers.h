// Writes encoded documents to the training and the validation split.
#ifndef TRAINYARD_DATA_PREPARE_SPLITS_SPLIT_WRITERS_H_
#define TRAINYARD_DATA_PREPARE_SPLITS_SPLIT_WRITERS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/output_format.h"
#include "data/tokens/source_format.h"
#include "data/tokens/token_writer.h"

namespace trainyard::data {

struct EncodedPart {
  bool validates = false;
  bool ends_document = false;
  bool has_special_text = false;
  uint64_t hash = 0;
  int64_t source_bytes = 0;
  size_t packed_bytes = 0;
  // Line or row, counted from 0 at the start of the block in this file, or a position in the text
  // of the file, as in TextPart.
  int64_t position = 0;
};

// The smallest and largest hash of all parts. If a split is empty, they determine a new threshold.
struct HashRange {
  uint64_t smallest = std::numeric_limits<uint64_t>::max();
  uint64_t largest = 0;
  int64_t parts = 0;
};

// The writers of both splits. Consecutive parts of a document stay one document if they go to the
// same split.
class SplitWriters {
 public:
  static absl::StatusOr<SplitWriters> Create(const std::string& directory,
                                             const Tokenizer& tokenizer, OutputFormat format);
  // Removes the files of a first attempt.
  static absl::StatusOr<SplitWriters> Restart(const std::string& directory,
                                              const Tokenizer& tokenizer, OutputFormat format);

  // `packed`: the tokens of the part. `place`: where the part begins.
  absl::Status Append(const EncodedPart& part, const SourcePlace& place, std::string_view packed);
  // Adds the counts of each id.
  void AddCounts(const std::vector<int64_t>& train, const std::vector<int64_t>& val);
  absl::Status Finish(SplitTotals* train, SplitTotals* val);

  int64_t special_documents() const { return special_documents_; }
  bool train_is_empty() const { return train_->tokens() == 0; }
  bool val_is_empty() const { return val_->tokens() == 0; }

  // True if a split is empty that should not be.
  bool NeedsOtherThreshold(double fraction) const {
    return train_is_empty() || (fraction > 0 && val_is_empty());
  }
  // Returns a threshold with which neither split is empty. Returns InvalidArgument if the text is
  // too short for two splits.
  absl::StatusOr<uint64_t> OtherThreshold(double fraction) const;

 private:
  absl::Status EndDocument();

  std::unique_ptr<TokenWriter> train_;
  std::unique_ptr<TokenWriter> val_;
  TokenWriter* open_ = nullptr;    // the writer with an unfinished document, if any
  bool has_special_text_ = false;  // of the document that is being read
  int64_t special_documents_ = 0;
  HashRange hashes_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_SPLITS_SPLIT_WRITERS_H_
