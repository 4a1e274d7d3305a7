// Writes token files in the formats of other tools, byte by byte, from the published layouts.
#ifndef TRAINYARD_TESTS_TRAINER_DATA_FOREIGN_TOKENS_H_
#define TRAINYARD_TESTS_TRAINER_DATA_FOREIGN_TOKENS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::trainer {

// Returns the low `width` bytes of each number, the least significant byte first.
inline std::string LittleEndianBytes(const std::vector<int64_t>& numbers, int width) {
  std::string bytes;
  for (const int64_t number : numbers) {
    for (int i = 0; i < width; ++i) {
      bytes += static_cast<char>(static_cast<uint64_t>(number) >> (8 * i));
    }
  }
  return bytes;
}

// Returns an index with one document per sequence, as preprocess_data.py writes it.
inline std::string MegatronIndex(const std::vector<int64_t>& lengths, int type_code, int width) {
  const auto sequences = static_cast<int64_t>(lengths.size());
  std::vector<int64_t> pointers, documents;
  int64_t bytes = 0;
  for (int64_t i = 0; i < sequences; ++i) {
    pointers.push_back(bytes);
    documents.push_back(i);
    bytes += lengths[i] * width;
  }
  documents.push_back(sequences);
  return std::string("MMIDIDX\0\0", 9) + LittleEndianBytes({1}, 8) + static_cast<char>(type_code) +
         LittleEndianBytes({sequences, sequences + 1}, 8) + LittleEndianBytes(lengths, 4) +
         LittleEndianBytes(pointers, 8) + LittleEndianBytes(documents, 8);
}

inline std::string LlmcFile(const std::vector<int64_t>& tokens, int64_t magic, int64_t version,
                            int width) {
  std::vector<int64_t> header(256, 0);
  header[0] = magic;
  header[1] = version;
  header[2] = static_cast<int64_t>(tokens.size());
  return LittleEndianBytes(header, 4) + LittleEndianBytes(tokens, width);
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_DATA_FOREIGN_TOKENS_H_
