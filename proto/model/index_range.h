// Ranges of consecutive items, such as the layers of a pipeline stage.
#ifndef TRAINYARD_PROTO_MODEL_INDEX_RANGE_H_
#define TRAINYARD_PROTO_MODEL_INDEX_RANGE_H_

#include <cstdint>

namespace trainyard {

// The numbers in [first, first + length).
struct IndexRange {
  int64_t first = 0;
  int64_t length = 0;

  int64_t end() const { return first + length; }
  bool operator==(const IndexRange&) const = default;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_INDEX_RANGE_H_
