#include "data/prepare/command/text_pieces.h"

#include <utility>

namespace trainyard::data {

TextPieces PiecesOf(const Tokenizer& tokenizer, const std::string& source, std::string_view text) {
  std::vector<uint32_t> ids;
  tokenizer.Encode(text, &ids);
  return PiecesOf(tokenizer, source, std::move(ids));
}

TextPieces PiecesOf(const Tokenizer& tokenizer, const std::string& source,
                    std::vector<uint32_t> ids) {
  TextPieces pieces;
  pieces.source = source;
  pieces.name = tokenizer.name();
  pieces.text = tokenizer.Decode(ids);
  size_t end = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    // A text begins without the space that some tokenizers add. The length of a later piece is
    // therefore that by which it extends the piece before it.
    end += i == 0 ? tokenizer.Decode({ids[0]}).size()
                  : tokenizer.Decode({ids[i - 1], ids[i]}).size() -
                        tokenizer.Decode({ids[i - 1]}).size();
    pieces.ends.push_back(end);
  }
  if (end != pieces.text.size()) pieces.ends.clear();
  pieces.ids = std::move(ids);
  return pieces;
}

}  // namespace trainyard::data
