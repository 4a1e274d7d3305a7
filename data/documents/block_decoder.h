// Converts the raw bytes of a block to documents of plain text.
#ifndef TRAINYARD_DATA_DOCUMENTS_BLOCK_DECODER_H_
#define TRAINYARD_DATA_DOCUMENTS_BLOCK_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/documents/json_line.h"
#include "data/documents/pod_text.h"
#include "data/documents/text_parts.h"
#include "data/input/raw_block.h"

namespace trainyard::data {

struct DecodeSettings {
  std::string field = "text";  // key of the text in each JSON line; column of Parquet files
  bool repair_utf8 = false;    // replace invalid UTF-8 by U+FFFD instead of refusing it
  TextCuts cuts;               // of plain text and POD, as in ReadLimits
  // Plain text and POD of at most this size is one part, if one block contains the whole file.
  size_t whole_bytes = 0;
};

// Not thread-safe: each thread has its own decoder.
class BlockDecoder {
 public:
  // The text of the part is valid during the call.
  using Take = std::function<void(const TextPart&)>;

  // `pods` supplies the text of .pod files and must outlive the decoder.
  BlockDecoder(const DecodeSettings& settings, PodTexts* pods)
      : settings_(settings), pods_(*pods), parser_(settings.field) {}

  // Passes the parts of a loaded block to `take`. Each JSON line or row is one part. Long files of
  // plain text and POD are cut into stretches. A document without text gives one empty part. Only
  // adds the padding to the block. Bad JSON lines are returned, and bad rows as lines.
  //
  // Errors: DataLoss, with file and byte offset, for plain text that is not UTF-8; the errors of
  // PodTexts::Text.
  absl::StatusOr<BlockLines> Decode(RawBlock* block, const Take& take);

  // Same as JsonLineParser::ObserveFields. Parquet files have only the field of the settings,
  // because other columns are not read.
  void ObserveFields(TakeField take) {
    parser_.ObserveFields(take);
    take_field_ = std::move(take);
  }

 private:
  // A text of a block.
  struct BlockText {
    std::string_view text;
    bool begins_document = false;
    bool ends_document = false;
    int64_t offset = 0;        // in the text of the file
    bool is_repaired = false;  // then positions in it differ from those in the file
  };

  void TakeStretches(const BlockText& text, const Take& take) const;
  absl::StatusOr<BlockLines> DecodeText(const RawBlock& block, const Take& take) const;
  absl::StatusOr<BlockLines> DecodePod(const RawBlock& block, const Take& take) const;
  BlockLines DecodeJsonLines(RawBlock* block, const Take& take);
  BlockLines DecodeRows(const RawBlock& block, const Take& take);
  // Returns the text of a row, after repairs, or adds a bad line with this number.
  std::optional<std::string_view> RowText(std::optional<std::string_view> value, int64_t number,
                                          BlockLines* lines);
  // Sets `line` to the repaired line if it was repaired.
  LineText ParseLine(std::string_view* line, BlockLines* lines);

  const DecodeSettings settings_;
  PodTexts& pods_;
  JsonLineParser parser_;
  TakeField take_field_;
  std::string repaired_;  // the current line or row, if it was repaired
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DOCUMENTS_BLOCK_DECODER_H_
