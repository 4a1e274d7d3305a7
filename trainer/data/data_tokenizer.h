// Identifies the tokenizer of a data set, if the files of the data set name it.
#ifndef TRAINYARD_TRAINER_DATA_DATA_TOKENIZER_H_
#define TRAINYARD_TRAINER_DATA_DATA_TOKENIZER_H_

#include <cstdint>
#include <string>

#include "trainer/data/token_file.h"

namespace trainyard::trainer {

struct DataTokenizer {
  std::string data;              // Path of the first .bin file, for messages.
  std::string name;              // Such as "byte of 257 ids"; empty if unknown.
  int64_t vocab_size = 0;        // 0 if unknown.
  std::string fingerprint = "";  // Equal for equal tokenizers; empty if unknown.
};

// Reads tokenizer.json and tokenizer.model, which `trainyard data prepare` writes next to the
// tokens. If they do not exist, reads the header of the token file. Ignores a tokenizer.json that
// another program wrote.
DataTokenizer TokenizerOf(const TokenFile& file);

// Throws TrainerError(kBadConfig) that names both tokenizers if they are known to differ. If both
// have fingerprints, only these count. Losses on tokens of different tokenizers cannot be compared.
void CheckSameTokenizer(const DataTokenizer& reference, const DataTokenizer& other);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_DATA_TOKENIZER_H_
