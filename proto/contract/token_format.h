// Names in the JSON header of a token file. `trainyard data prepare` writes the file, and the
// trainer reads it. trainer/data/README.md describes the format.
#ifndef TRAINYARD_PROTO_CONTRACT_TOKEN_FORMAT_H_
#define TRAINYARD_PROTO_CONTRACT_TOKEN_FORMAT_H_

#include <cstdint>

namespace trainyard::token_format {

// Each split has the files SPLIT.bin and SPLIT.json.
inline constexpr char kTrainSplit[] = "train";
inline constexpr char kValidationSplit[] = "val";

inline constexpr char kFormatKey[] = "format";
inline constexpr char kFormat[] = "trainyard-tokens";
inline constexpr char kVersionKey[] = "version";
inline constexpr int64_t kVersion = 1;

inline constexpr char kTypeKey[] = "dtype";  // The type of the tokens, which are little-endian.
inline constexpr char kTwoBytes[] = "uint16";
inline constexpr char kFourBytes[] = "uint32";

inline constexpr char kTokens[] = "tokens";
inline constexpr char kVocabSize[] = "vocab_size";
inline constexpr char kDocuments[] = "documents";
inline constexpr char kSourceBytes[] = "source_bytes";        // Bytes of text before tokenizing.
inline constexpr char kUnigramEntropy[] = "unigram_entropy";  // Nats per token.
inline constexpr char kEndOfDocument[] = "end_of_document";
inline constexpr char kBeginOfDocument[] = "begin_of_document";  // Only if documents begin with it.
inline constexpr char kChecksum[] = "xxh64";  // Checksum of SPLIT.bin, 16 hexadecimal digits.

// Size and checksum of SPLIT.sources, the inputs of the documents; missing in older data sets.
inline constexpr char kSources[] = "sources";
inline constexpr char kBytes[] = "bytes";

// Description of the tokenizer, a JSON object beside the tokens.
inline constexpr char kTokenizerFile[] = "tokenizer.json";
inline constexpr char kTokenizerKind[] = "kind";  // "byte", "sentencepiece" or "bpe".
inline constexpr char kTokenizerName[] = "name";  // Such as "gpt2"; missing in older data sets.
// Equal for equal tokenizers, 16 hexadecimal digits; missing in older data sets.
inline constexpr char kTokenizerFingerprint[] = "fingerprint";
inline constexpr char kTokenizerModel[] = "model";  // File of a sentencepiece model.
inline constexpr char kTokenizerFiles[] = "files";  // Files of other tokenizers.

}  // namespace trainyard::token_format

#endif  // TRAINYARD_PROTO_CONTRACT_TOKEN_FORMAT_H_
