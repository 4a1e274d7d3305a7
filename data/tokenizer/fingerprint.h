// A number that identifies a tokenizer.
#ifndef TRAINYARD_DATA_TOKENIZER_FINGERPRINT_H_
#define TRAINYARD_DATA_TOKENIZER_FINGERPRINT_H_

#include <cstdint>
#include <string>

#include "data/tokenizer/bpe_definition.h"

namespace trainyard::data {

// XXH64 of the ids and bytes of all tokens, of the order of merges, and of the rules for text.
//
// Merges count only by the order in which they first make each token. Files of tiktoken and
// SentencePiece list no merges, and Hugging Face's files list one or all ways to make a token, so
// that the pairs of the same tokenizer differ between formats.
uint64_t FingerprintOf(const BpeDefinition& definition);

// 16 hexadecimal digits.
std::string FingerprintText(uint64_t fingerprint);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_FINGERPRINT_H_
