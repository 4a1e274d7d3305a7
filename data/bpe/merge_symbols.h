// Applies merges to the symbols of one piece of text.
#ifndef TRAINYARD_DATA_BPE_MERGE_SYMBOLS_H_
#define TRAINYARD_DATA_BPE_MERGE_SYMBOLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/bpe/merge_table.h"

namespace trainyard::data {

// Pieces of at most this many symbols are merged by MergeShort.
inline constexpr size_t kShortSymbolsMax = 64;

// Merges `count` symbols in place and returns the number of tokens left. The merge with the lowest
// rank is applied first, and the leftmost one among equal ranks. `count` is at most
// kShortSymbolsMax. Takes time quadratic in `count`.
size_t MergeShort(const MergeTable& merges, uint32_t* symbols, size_t count);

// Merges symbols as MergeShort does, in time n log n. Needs up to 24 bytes per symbol. There must
// be fewer than 2^31 symbols.
void MergeLong(const MergeTable& merges, std::vector<uint32_t>* symbols);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_MERGE_SYMBOLS_H_
