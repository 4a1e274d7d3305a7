// Writes a trained BPE as tokenizer.json, the format of Hugging Face's tokenizers.
#ifndef TRAINYARD_DATA_BPE_TRAINING_TOKENIZER_JSON_H_
#define TRAINYARD_DATA_BPE_TRAINING_TOKENIZER_JSON_H_

#include <string>

#include "absl/status/status.h"
#include "data/bpe_training/trained_bpe.h"

namespace trainyard::data {

// Returns the file's text. The tokenizer splits text with the rule of GPT-2 and adds no tokens at
// the begin and end.
std::string ToTokenizerJson(const TrainedBpe& trained);

// Replaces the file at `path`. It is on disk when the call returns OK.
absl::Status WriteTokenizerJson(const TrainedBpe& trained, const std::string& path);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_TOKENIZER_JSON_H_
