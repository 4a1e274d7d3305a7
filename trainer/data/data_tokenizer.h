// The tokenizer of a data set, if its files identify it.
#ifndef TRAINYARD_TRAINER_DATA_DATA_TOKENIZER_H_
#define TRAINYARD_TRAINER_DATA_DATA_TOKENIZER_H_

#include <cstdint>
#include <string>

#include "trainer/data/token_file.h"

namespace trainyard::trainer {

struct DataTokenizer {
  std::string data;        // First .bin file, for messages.
  std::string name;        // For example "byte of 257 ids"; empty if unknown.
  int64_t vocab_size = 0;  // 0 if unknown.
};

// Reads tokenizer.json and tokenizer.model next to the tokens, as written by `trainyard data
// prepare`, else the header of the tokens. A tokenizer.json of another program is ignored.
DataTokenizer TokenizerOf(const TokenFile& file);

// Throws TrainerError(kBadConfig) naming both tokenizers if they are known to differ: losses on
// tokens of different tokenizers are not comparable.
void CheckSameTokenizer(const DataTokenizer& reference, const DataTokenizer& other);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_DATA_TOKENIZER_H_
