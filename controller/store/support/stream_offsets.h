// Checks the offsets of batches, so that every byte of a stream is stored exactly once.
#ifndef TRAINYARD_CONTROLLER_STORE_SUPPORT_STREAM_OFFSETS_H_
#define TRAINYARD_CONTROLLER_STORE_SUPPORT_STREAM_OFFSETS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "controller/core/support/stream_key.h"

namespace trainyard::controller {

struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// OUT_OF_RANGE if the range begins beyond the stored offset, because the bytes in between would be
// lost. INVALID_ARGUMENT if the range is invalid.
absl::Status CheckBatchRange(const StreamKey& stream, ByteRange range, int64_t stored_offset);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SUPPORT_STREAM_OFFSETS_H_
