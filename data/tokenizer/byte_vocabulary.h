// Builds a byte-level vocabulary from the texts of its files.
#ifndef TRAINYARD_DATA_TOKENIZER_BYTE_VOCABULARY_H_
#define TRAINYARD_DATA_TOKENIZER_BYTE_VOCABULARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "data/bpe/byte_piece_model.h"

namespace trainyard::data {

struct TokenText {
  uint32_t id = 0;
  std::string text;
};

// Adds tokens that are written in the byte alphabet. A token with characters outside the alphabet,
// such as an added token, is added as it is. `path` is for messages.
absl::Status AddAlphabetTokens(const std::vector<TokenText>& tokens, const std::string& path,
                               ByteBpe* bpe);

// Adds the merge of two tokens that are written in the byte alphabet, behind all others. `number`
// (from 1) and `path` are for messages.
absl::Status AddAlphabetMerge(std::string_view left, std::string_view right, size_t number,
                              const std::string& path, ByteBpe* bpe);

// Adds the merges of "left right", one per line. Ignores an empty last line, and lines that begin
// with "#version".
absl::Status AddMergeLines(std::string_view text, const std::string& path, ByteBpe* bpe);

// Fails if a byte of UTF-8 is neither a token nor encoded as unknown.
absl::Status CheckAllBytesEncoded(const ByteBpe& bpe, const std::string& path);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_BYTE_VOCABULARY_H_
