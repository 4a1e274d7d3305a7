// The tokenizer that a data set was made with, as far as its files tell.
#ifndef TRAINYARD_TRAINER_DATA_DATA_TOKENIZER_H_
#define TRAINYARD_TRAINER_DATA_DATA_TOKENIZER_H_

#include <cstdint>
#include <string>

#include "trainer/data/token_file.h"

namespace trainyard::trainer {

struct DataTokenizer {
  std::string data;        // The first .bin file, for messages.
  std::string name;        // Such as "byte of 257 ids"; empty where no file tells.
  int64_t vocab_size = 0;  // 0 where no file tells.
};

// From tokenizer.json and tokenizer.model beside the tokens, as `trainyard data prepare` writes
// them, else from the header of the tokens. A tokenizer.json of another program tells nothing.
DataTokenizer TokenizerOf(const TokenFile& file);

// Throws TrainerError(kBadConfig) with the names of both when they are known to differ: a loss on
// tokens of another tokenizer means nothing.
void CheckSameTokenizer(const DataTokenizer& reference, const DataTokenizer& other);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_DATA_TOKENIZER_H_
