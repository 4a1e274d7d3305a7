// Tokenizers of vocabularies that were trained elsewhere.
#ifndef TRAINYARD_DATA_TOKENIZER_BPE_TOKENIZER_H_
#define TRAINYARD_DATA_TOKENIZER_BPE_TOKENIZER_H_

#include <memory>

#include "data/tokenizer/bpe_definition.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// Every thread that encodes at the same time as others uses caches of up to 64 MiB. They are kept
// for later calls.
std::unique_ptr<Tokenizer> MakeBpeTokenizer(BpeDefinition definition, SpecialText special_text);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_BPE_TOKENIZER_H_
