// The formats of token files that `data prepare` writes.
#ifndef TRAINYARD_DATA_TOKENS_OUTPUT_FORMAT_H_
#define TRAINYARD_DATA_TOKENS_OUTPUT_FORMAT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

enum class OutputFormat { kTrainyard, kMegatron, kNanogpt, kLlmc };

// "trainyard", "megatron", "nanogpt" or "llmc"; the trainer's names in data.format.
const char* NameOf(OutputFormat format);
std::optional<OutputFormat> FindOutputFormat(std::string_view name);

// Returns InvalidArgument if the format cannot contain the ids of the tokenizer, or if its other
// readers would take them for those of another tokenizer.
absl::Status CheckFormat(OutputFormat format, const Tokenizer& tokenizer);
// Like CheckFormat, for a tokenizer that will be trained later with this vocabulary size.
absl::Status CheckFormatOfTrained(OutputFormat format, int64_t vocab_size);

// The tokens around each document.
struct DocumentMarks {
  std::optional<uint32_t> before;
  std::optional<uint32_t> after;
};

// llm.c's files have only a token before each document: GPT-2's end token, or LLaMA-3's begin
// token. The other formats have the end token after each document, and before it the begin token if
// models of the tokenizer expect it.
DocumentMarks MarksOf(OutputFormat format, const Tokenizer& tokenizer);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_OUTPUT_FORMAT_H_
