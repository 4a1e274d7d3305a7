// Layout of an index file, little-endian, as written by Megatron-LM's indexed_dataset.py:
//   bytes 0 to 8    "MMIDIDX" and two zeros
//   bytes 9 to 16   uint64: version, 1
//   byte 17         code of the token type
//   bytes 18 to 25  uint64: number of sequences
//   bytes 26 to 33  uint64: number of document indices
//   int32 per sequence: number of tokens
//   int64 per sequence: byte offset in the data file
//   int64 per document index: first sequence of the document; last entry: number of sequences
//   int8 per sequence, only for multimodal data: mode
#include <optional>

#include "trainer/data/token_layout.h"

namespace trainyard::trainer {
namespace {

constexpr char kMagic[] = "MMIDIDX\0";  // 9 bytes, including the literal's final zero.
constexpr size_t kMagicBytes = 9;
constexpr char kOlderMagic[] = "TNTIDX\0";  // Written with --dataset-impl lazy or cached.
constexpr size_t kOlderMagicBytes = 8;
constexpr size_t kIndexHeaderBytes = 34;
constexpr char kHowToRepeat[] = "; copy both files again or preprocess the data again";

bool BeginsWith(const MappedFile& file, const char* magic, size_t bytes) {
  return file.bytes() >= bytes && std::memcmp(file.data(), magic, bytes) == 0;
}

std::optional<TokenType> TypeOfCode(int code) {
  switch (code) {
    case 1:
      return TokenType::kUint8;
    case 3:
      return TokenType::kInt16;
    case 4:
      return TokenType::kInt32;
    case 5:
      return TokenType::kInt64;
    case 8:
      return TokenType::kUint16;
    default:
      return std::nullopt;
  }
}

// The arrays of an index. Their sizes have been checked against the file size.
struct Index {
  TokenType type = TokenType::kUint16;
  int64_t sequences = 0;
  int64_t documents = 0;  // Number of document indices, which is the number of documents + 1.
  const unsigned char* lengths = nullptr;
  const unsigned char* pointers = nullptr;
  const unsigned char* document_indices = nullptr;
};

TokenType CheckHeader(const MappedFile& index) {
  if (BeginsWith(index, kOlderMagic, kOlderMagicBytes)) {
    ThrowBadData(index.path(),
                 "is an index of the older `lazy` or `cached` kind; preprocess the data with "
                 "`--dataset-impl mmap`");
  }
  if (!BeginsLikeMegatronIndex(index)) {
    ThrowBadData(
        index.path(),
        "does not begin with MMIDIDX, so it is not an index of Megatron-LM; correct data.path or "
        "data.format");
  }
  if (index.bytes() < kIndexHeaderBytes) {
    ThrowBadData(index.path(),
                 "has " + std::to_string(index.bytes()) +
                     " bytes, fewer than the header of an index, so the file is truncated" +
                     kHowToRepeat);
  }
  const auto version = LoadLittleEndian<uint64_t>(index.data() + 9);
  if (version != 1) {
    ThrowBadData(index.path(), "is an index of version " + std::to_string(version) +
                                   ", but this program reads only version 1; preprocess the data "
                                   "with a release of Megatron-LM that writes version 1");
  }
  const int code = index.data()[17];
  const std::optional<TokenType> type = TypeOfCode(code);
  if (!type.has_value()) {
    ThrowBadData(index.path(), "token type code " + std::to_string(code) +
                                   " is not uint8, int16, int32, int64 or uint16 (1, 3, 4, 5, 8), "
                                   "so the index is damaged or does not describe tokens" +
                                   kHowToRepeat);
  }
  return *type;
}

Index ReadIndex(const MappedFile& file) {
  Index index;
  index.type = CheckHeader(file);
  const auto sequences = LoadLittleEndian<uint64_t>(file.data() + 18);
  const auto documents = LoadLittleEndian<uint64_t>(file.data() + 26);
  const uint64_t rest = file.bytes() - kIndexHeaderBytes;
  constexpr uint64_t kSequenceBytes = sizeof(int32_t) + sizeof(int64_t);
  const bool fits = sequences <= rest / kSequenceBytes &&
                    documents <= (rest - sequences * kSequenceBytes) / sizeof(int64_t);
  const uint64_t behind =
      fits ? rest - sequences * kSequenceBytes - documents * sizeof(int64_t) : 0;
  if (!fits || (behind != 0 && behind != sequences)) {
    ThrowBadData(file.path(),
                 "has " + std::to_string(file.bytes()) + " bytes, but declares " +
                     std::to_string(sequences) + " sequences and " + std::to_string(documents) +
                     " document indices, so the file is truncated or damaged" + kHowToRepeat);
  }
  if (behind != 0) {
    ThrowBadData(file.path(),
                 "contains modes of sequences, so the data is multimodal; this program can train "
                 "only on text, so use text-only data");
  }
  index.sequences = static_cast<int64_t>(sequences);
  index.documents = static_cast<int64_t>(documents);
  index.lengths = file.data() + kIndexHeaderBytes;
  index.pointers = index.lengths + sequences * sizeof(int32_t);
  index.document_indices = index.pointers + sequences * sizeof(int64_t);
  return index;
}

// Returns the total number of tokens. Checks that each sequence begins where the preceding one
// ends, so that the data file is one contiguous run of tokens.
int64_t TokensOf(const Index& index, const MappedFile& file, const MappedFile& data) {
  const int64_t width = BytesOf(index.type);
  const auto data_tokens = static_cast<int64_t>(data.bytes()) / width;
  int64_t tokens = 0;
  for (int64_t i = 0; i < index.sequences; ++i) {
    const auto length = LoadLittleEndian<int32_t>(index.lengths + i * sizeof(int32_t));
    const auto pointer = LoadLittleEndian<int64_t>(index.pointers + i * sizeof(int64_t));
    if (length < 0 || pointer != tokens * width) {
      ThrowBadData(file.path(), "sequence " + std::to_string(i) + " has " + std::to_string(length) +
                                    " tokens from byte " + std::to_string(pointer) +
                                    ", but the previous sequence ends at byte " +
                                    std::to_string(tokens * width) + ", so the index is damaged" +
                                    kHowToRepeat);
    }
    tokens += length;
    if (tokens > data_tokens) break;  // Prevents an overflow. The caller rejects this sum.
  }
  return tokens;
}

void CheckDocuments(const Index& index, const MappedFile& file) {
  int64_t before = 0;
  for (int64_t i = 0; i < index.documents; ++i) {
    const auto sequence = LoadLittleEndian<int64_t>(index.document_indices + i * sizeof(int64_t));
    if (sequence < before || sequence > index.sequences || (i == 0 && sequence != 0)) {
      ThrowBadData(file.path(),
                   "document " + std::to_string(i) + " begins at sequence " +
                       std::to_string(sequence) + " of " + std::to_string(index.sequences) +
                       "; the documents are out of order, so the index is damaged" + kHowToRepeat);
    }
    before = sequence;
  }
  if (index.documents > 0 && before == index.sequences) return;
  ThrowBadData(file.path(), "its documents end at sequence " + std::to_string(before) + " of " +
                                std::to_string(index.sequences) +
                                ", so the index is incomplete or damaged" + kHowToRepeat);
}

}  // namespace

bool BeginsLikeMegatronIndex(const MappedFile& data) {
  return BeginsWith(data, kMagic, kMagicBytes);
}

DescribedTokens ReadMegatronTokens(const MappedFile& data, const std::string& index_path) {
  const MappedFile file(index_path, ReadOrder::kSequential,
                        "; Megatron-LM's data needs PREFIX.idx beside PREFIX.bin");
  const Index index = ReadIndex(file);
  DescribedTokens read;
  read.layout.type = index.type;
  read.layout.tokens = TokensOf(index, file, data);
  const auto width = static_cast<uint64_t>(BytesOf(index.type));
  const auto tokens = static_cast<uint64_t>(read.layout.tokens);
  if (data.bytes() % width != 0 || data.bytes() / width != tokens) {
    const bool is_short = data.bytes() / width < tokens;
    ThrowBadData(data.path(),
                 "has " + std::to_string(data.bytes()) + " bytes, but its index declares " +
                     (is_short ? "more than that" : std::to_string(tokens * width)) +
                     "; one of the two files is truncated or belongs to another data set" +
                     kHowToRepeat);
  }
  CheckDocuments(index, file);
  read.header.tokens = read.layout.tokens;
  read.header.documents = index.documents - 1;
  return read;
}

}  // namespace trainyard::trainer
