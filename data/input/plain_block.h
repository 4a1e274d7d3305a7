// Loads a block of a file that is not compressed.
#ifndef TRAINYARD_DATA_INPUT_PLAIN_BLOCK_H_
#define TRAINYARD_DATA_INPUT_PLAIN_BLOCK_H_

#include "absl/status/status.h"
#include "data/input/raw_block.h"

namespace trainyard::data {

// Sets the bytes and the offset of a block, and whether a line was omitted. Thread-safe for
// different blocks. The errors are those of LoadBlock.
absl::Status LoadPlainBlock(RawBlock* block, const ReadLimits& limits);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_PLAIN_BLOCK_H_
