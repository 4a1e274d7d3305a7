// The merges of GPT-2, which are part of the program.
#ifndef TRAINYARD_DATA_TOKENIZER_GPT2_GPT2_MERGES_H_
#define TRAINYARD_DATA_TOKENIZER_GPT2_GPT2_MERGES_H_

#include <string_view>

namespace trainyard::data {

// The contents of vocab.bpe: a line "#version: 0.2", then 50,000 merges in the byte alphabet, one
// per line.
std::string_view Gpt2Merges();

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_GPT2_GPT2_MERGES_H_
