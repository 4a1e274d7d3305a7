// Documents and their parts.
#ifndef TRAINYARD_DATA_DOCUMENTS_TEXT_PARTS_H_
#define TRAINYARD_DATA_DOCUMENTS_TEXT_PARTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/input/raw_block.h"

namespace trainyard::data {

// A document, or a part of a file of plain text or POD. Each part goes to either the training or
// the validation split.
struct TextPart {
  std::string_view text;
  bool begins_document = false;
  bool ends_document = false;
  // The whole JSON line without its line end, after repairs of UTF-8. Not set for other files.
  std::string_view json;
  // Number of the JSON line or row, counted from 0 at the start of the block.
  int64_t line = 0;
  // Position of `text` in the text of the file, in bytes. In a block with repaired UTF-8, that of
  // the block. 0 for JSON lines and rows.
  int64_t offset = 0;
};

// Cuts `text` into pieces of about 32 KiB, so that one large file can be split between training and
// validation. Cuts at the positions that `cuts` allows. Without `cuts.find`, cuts after line ends;
// a longer line is cut between characters.
std::vector<std::string_view> CutIntoStretches(std::string_view text, const TextCuts& cuts = {});

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DOCUMENTS_TEXT_PARTS_H_
