// The tokenizer whose tokens are bytes.
#ifndef TRAINYARD_DATA_TOKENIZER_BYTE_TOKENIZER_H_
#define TRAINYARD_DATA_TOKENIZER_BYTE_TOKENIZER_H_

#include <memory>

#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// Ids 0 to 255 are bytes. Id 256 ends a document.
std::unique_ptr<Tokenizer> MakeByteTokenizer();

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_BYTE_TOKENIZER_H_
