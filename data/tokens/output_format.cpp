#include "data/tokens/output_format.h"

#include <array>

#include "data/tokens/llmc_variant.h"
#include "data/tokens/token_packer.h"

namespace trainyard::data {
namespace {

constexpr std::array kFormats = {OutputFormat::kTrainyard, OutputFormat::kMegatron,
                                 OutputFormat::kNanogpt, OutputFormat::kLlmc};

absl::Status TooLargeForNanogpt(const std::string& vocab_size) {
  return absl::InvalidArgumentError(
      "--format nanogpt stores ids of 16 bits, but the tokenizer has " + vocab_size +
      " ids, and only 65536 fit; choose another --format or a smaller vocabulary");
}

absl::Status UnknownToLlmc(const std::string& tokenizer) {
  return absl::InvalidArgumentError(
      "--format llmc exists only for the tokenizers of GPT-2 (50257 ids) and LLaMA-3 (128256 "
      "ids), not for " +
      tokenizer + "; pass --tokenizer gpt2, or choose another --format");
}

}  // namespace

const char* NameOf(OutputFormat format) {
  switch (format) {
    case OutputFormat::kMegatron:
      return "megatron";
    case OutputFormat::kNanogpt:
      return "nanogpt";
    case OutputFormat::kLlmc:
      return "llmc";
    default:
      return "trainyard";
  }
}

std::optional<OutputFormat> FindOutputFormat(std::string_view name) {
  for (const OutputFormat format : kFormats) {
    if (name == NameOf(format)) return format;
  }
  return std::nullopt;
}

absl::Status CheckFormat(OutputFormat format, const Tokenizer& tokenizer) {
  const std::string size = std::to_string(tokenizer.vocab_size());
  if (format == OutputFormat::kNanogpt && BytesPerToken(tokenizer.vocab_size()) != 2) {
    return TooLargeForNanogpt(size);
  }
  if (format == OutputFormat::kLlmc && FindLlmcVariant(tokenizer) == nullptr) {
    return UnknownToLlmc(tokenizer.name() + " of " + size + " ids");
  }
  return absl::OkStatus();
}

absl::Status CheckFormatOfTrained(OutputFormat format, int64_t vocab_size) {
  if (format == OutputFormat::kNanogpt && BytesPerToken(vocab_size) != 2) {
    return TooLargeForNanogpt("up to " + std::to_string(vocab_size));
  }
  if (format == OutputFormat::kLlmc) return UnknownToLlmc("one that is trained on the inputs");
  return absl::OkStatus();
}

DocumentMarks MarksOf(OutputFormat format, const Tokenizer& tokenizer) {
  const std::optional<uint32_t> begin =
      tokenizer.begins_documents() ? tokenizer.begin_of_document() : std::nullopt;
  if (format == OutputFormat::kLlmc) {
    return {begin ? *begin : tokenizer.end_of_document(), std::nullopt};
  }
  return {begin, tokenizer.end_of_document()};
}

}  // namespace trainyard::data
