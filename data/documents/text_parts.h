// Converts the raw bytes of a block to documents of plain text.
#ifndef TRAINYARD_DATA_DOCUMENTS_TEXT_PARTS_H_
#define TRAINYARD_DATA_DOCUMENTS_TEXT_PARTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "data/documents/pod_text.h"
#include "data/input/block_reader.h"

namespace trainyard::data {

// A document, or a part of a long document. Each TextPart goes to either the training or the
// validation split.
struct TextPart {
  std::string text;
  bool begins_document = false;
  bool ends_document = false;
};

// Appends the parts of a block. `field`: the key of the text in a JSON line. `pods`: supplies the
// text of .pod files. A document without text gives one empty part. Thread-safe.
//
// Errors: DataLoss, with file and byte offset, for text that is not UTF-8; DataLoss, with file and
// line number, for a line that is not a JSON object with a string under `field`; the errors of
// PodToText.
absl::Status DecodeBlock(const RawBlock& block, const std::string& field, PodTexts& pods,
                         std::vector<TextPart>* parts);

// Cuts `text` into pieces of about 32 KiB, so that one large file can be split between training and
// validation. Cuts after line ends; a longer line is cut between characters.
std::vector<std::string_view> CutIntoStretches(std::string_view text);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DOCUMENTS_TEXT_PARTS_H_
