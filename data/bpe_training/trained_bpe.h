// A trained byte-level BPE.
#ifndef TRAINYARD_DATA_BPE_TRAINING_TRAINED_BPE_H_
#define TRAINYARD_DATA_BPE_TRAINING_TRAINED_BPE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::data {

struct BpeMerge {
  uint32_t left = 0;  // Ids.
  uint32_t right = 0;

  friend bool operator==(const BpeMerge&, const BpeMerge&) = default;
};

struct TrainedBpe {
  // By id. First the special tokens, as given; then bytes and merged tokens in GPT-2's byte
  // alphabet (byte_alphabet.h).
  std::vector<std::string> tokens;
  size_t special_tokens = 0;
  // In order of rank. The token of a merge is the concatenation of its parts.
  std::vector<BpeMerge> merges;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_TRAINED_BPE_H_
