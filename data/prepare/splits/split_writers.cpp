#include "data/prepare/splits/split_writers.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {

absl::StatusOr<SplitWriters> SplitWriters::Create(const std::string& directory,
                                                  const Tokenizer& tokenizer, OutputFormat format) {
  SplitWriters writers;
  TRAINYARD_ASSIGN_OR_RETURN(
      writers.train_, TokenWriter::Create(directory, token_format::kTrainSplit, tokenizer, format));
  TRAINYARD_ASSIGN_OR_RETURN(
      writers.val_,
      TokenWriter::Create(directory, token_format::kValidationSplit, tokenizer, format));
  return writers;
}

absl::StatusOr<SplitWriters> SplitWriters::Restart(const std::string& directory,
                                                   const Tokenizer& tokenizer,
                                                   OutputFormat format) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    std::filesystem::remove(entry.path(), error);
  }
  return Create(directory, tokenizer, format);
}

absl::Status SplitWriters::Append(const EncodedPart& part, const SourcePlace& place,
                                  std::string_view packed) {
  TokenWriter* writer = part.validates ? val_.get() : train_.get();
  if (part.source_bytes > 0) {
    if (open_ != writer) {
      TRAINYARD_RETURN_IF_ERROR(EndDocument());
      writer->BeginDocument(place);
    }
    open_ = writer;
    if (part.has_special_text) has_special_text_ = true;
    TRAINYARD_RETURN_IF_ERROR(writer->Append(packed, part.source_bytes));
    hashes_.smallest = std::min(hashes_.smallest, part.hash);
    hashes_.largest = std::max(hashes_.largest, part.hash);
    ++hashes_.parts;
  }
  if (!part.ends_document) return absl::OkStatus();
  if (std::exchange(has_special_text_, false)) ++special_documents_;
  return EndDocument();
}

void SplitWriters::AddCounts(const std::vector<int64_t>& train, const std::vector<int64_t>& val) {
  train_->AddCounts(train);
  val_->AddCounts(val);
}

absl::Status SplitWriters::Finish(SplitTotals* train, SplitTotals* val) {
  TRAINYARD_ASSIGN_OR_RETURN(*train, train_->Finish());
  TRAINYARD_ASSIGN_OR_RETURN(*val, val_->Finish());
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SplitWriters::OtherThreshold(double fraction) const {
  if (hashes_.parts == 0) return absl::DataLossError("the inputs contain no text");
  if (hashes_.smallest == hashes_.largest) {
    return absl::InvalidArgumentError(
        "the text is too short to hold out a part for validation; add text, or pass --val-fraction "
        "0");
  }
  if (val_is_empty() && fraction > 0) return hashes_.smallest + 1;
  return hashes_.largest;
}

absl::Status SplitWriters::EndDocument() {
  TokenWriter* ended = std::exchange(open_, nullptr);
  return ended == nullptr ? absl::OkStatus() : ended->EndDocument();
}

}  // namespace trainyard::data
