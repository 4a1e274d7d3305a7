// Assignment of text to the training or the validation split by its hash.
#ifndef TRAINYARD_DATA_PREPARE_SPLITS_SPLIT_HASH_H_
#define TRAINYARD_DATA_PREPARE_SPLITS_SPLIT_HASH_H_

#include <cstdint>
#include <string_view>

namespace trainyard::data {

// A different seed gives an independent hash.
uint64_t HashOf(std::string_view text, uint64_t seed = 0);

// Returns the hash threshold for a fraction below 1. Text with a smaller hash goes to the
// validation split. With threshold 0, this split is empty.
uint64_t ThresholdOf(double fraction);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_SPLITS_SPLIT_HASH_H_
