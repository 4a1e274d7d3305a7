// The pieces into which a tokenizer divides a text.
#ifndef TRAINYARD_DATA_PREPARE_COMMAND_TEXT_PIECES_H_
#define TRAINYARD_DATA_PREPARE_COMMAND_TEXT_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

struct TextPieces {
  std::string source;  // the --tokenizer of the user
  std::string name;    // of the tokenizer
  std::vector<uint32_t> ids;
  // The text that the ids encode. Differs from the document if the tokenizer normalizes text.
  std::string text;
  // Ends of the pieces in `text`, one per id. Empty if the tokenizer cannot divide the text,
  // because some of its ids encode parts of characters that it can only decode together.
  std::vector<size_t> ends;
};

// Encodes the whole text, without the tokens that begin and end documents.
TextPieces PiecesOf(const Tokenizer& tokenizer, const std::string& source, std::string_view text);
// Same as PiecesOf, for known ids.
TextPieces PiecesOf(const Tokenizer& tokenizer, const std::string& source,
                    std::vector<uint32_t> ids);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_COMMAND_TEXT_PIECES_H_
