// The tokenizer of a data set.
#ifndef TRAINYARD_DATA_PREPARE_TOKENIZERS_DESCRIBED_TOKENIZER_H_
#define TRAINYARD_DATA_PREPARE_TOKENIZERS_DESCRIBED_TOKENIZER_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// Reads tokenizer.json of a data set. Errors name the file: NotFound, InvalidArgument if it is not
// a JSON object, DataLoss if reading fails.
absl::StatusOr<nlohmann::json> ReadTokenizerDescription(const std::string& directory);

// Loads the tokenizer that the description names, from the files of the data set. Returns the
// errors of LoadTokenizer.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadDescribed(const std::string& directory,
                                                         const nlohmann::json& description);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_TOKENIZERS_DESCRIBED_TOKENIZER_H_
