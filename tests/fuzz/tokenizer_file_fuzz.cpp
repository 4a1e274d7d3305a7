// Fuzzes the readers of tokenizer files. The first byte of the input selects the format: j for
// tokenizer.json, t for .tiktoken, s for tokenizer.model, v for vocab.json and merges.txt with a
// zero byte between them. The rest is also read as tokenizer_config.json.
#include <memory>
#include <string>
#include <vector>

#include "data/tokenizer/bpe_tokenizer.h"
#include "data/tokenizer/ranked_tokens.h"
#include "data/tokenizer/sentencepiece_model.h"
#include "data/tokenizer/tokenizer_config.h"
#include "data/tokenizer/tokenizer_json.h"
#include "proto/text/utf8.h"
#include "tests/fuzz/fuzz_target.h"

namespace trainyard::data {
namespace {

absl::StatusOr<BpeDefinition> Parse(char format, const std::string& text) {
  const Family* gpt2 = FindFamily("gpt2");
  switch (format) {
    case 't':
      return ParseTiktoken(text, "input", gpt2, {});
    case 's':
      return ParseSentencePieceModel(text, "input", {});
    case 'v': {
      const size_t end = std::min(text.find('\0'), text.size());
      const std::string merges = text.substr(std::min(end + 1, text.size()));
      return ParseVocabAndMerges({text.substr(0, end), "vocab", merges, "merges"}, gpt2, {});
    }
    default:
      return ParseTokenizerJson(text, "input", nullptr, {});
  }
}

// Encodes valid text. All ids must be below the size of the vocabulary.
void Check(BpeDefinition definition, const std::string& text) {
  const std::unique_ptr<Tokenizer> tokenizer =
      MakeBpeTokenizer(std::move(definition), SpecialText::kId);
  for (const std::string& sample : {std::string(), std::string(" ab  ab\n"), text}) {
    std::vector<uint32_t> ids;
    tokenizer->Encode(sample, &ids);
    FUZZ_EXPECT(sample.empty() ? ids.empty() : true);
    for (const uint32_t id : ids) FUZZ_EXPECT(id < tokenizer->vocab_size());
    tokenizer->Decode(ids);
  }
}

}  // namespace
}  // namespace trainyard::data

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::data;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto config = ParseTokenizerConfig(text, "input");
  FUZZ_EXPECT(config.ok() || !config.status().message().empty());
  absl::StatusOr<BpeDefinition> definition = Parse(static_cast<char>(data[0]), text);
  if (!definition.ok()) {
    FUZZ_EXPECT(!definition.status().message().empty());
    return 0;
  }
  Check(*std::move(definition), trainyard::ReplaceInvalidUtf8(text));
  return 0;
}
