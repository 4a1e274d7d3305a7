// The files of a tokenizer as text.
#ifndef TRAINYARD_DATA_TOKENIZER_TOKENIZER_TEXT_H_
#define TRAINYARD_DATA_TOKENIZER_TOKENIZER_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::data {

// The largest known file (Gemma's tokenizer.json) has 34 MB.
inline constexpr int64_t kTokenizerFileBytesMax = int64_t{128} << 20;

// Reads a whole file. Errors name the file: NotFound, InvalidArgument for a larger file and for one
// that is no regular file, DataLoss if reading fails.
absl::StatusOr<std::string> ReadTokenizerFile(const std::string& path);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_TOKENIZER_TEXT_H_
