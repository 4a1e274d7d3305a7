// Computes the part of a model that each rank of a layout holds. Pure functions, shared by the
// trainer and the predictions.
#ifndef TRAINYARD_PROTO_LAYOUT_LAYOUT_PARTS_H_
#define TRAINYARD_PROTO_LAYOUT_LAYOUT_PARTS_H_

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "proto/model/index_range.h"

namespace trainyard {

// Divides `total` consecutive items into `parts` parts and returns part `index`. Sizes differ by at
// most one; the larger parts come first.
inline IndexRange PartOf(int64_t total, int64_t parts, int64_t index) {
  const int64_t small = total / parts, larger = total % parts;
  return {index * small + std::min(index, larger), small + (index < larger ? 1 : 0)};
}

// The attention heads of one rank. The query heads are divided evenly among the tp ranks.
struct HeadPlace {
  IndexRange queries;
  IndexRange keys;        // Key heads of these queries. Ranks may share a key head.
  // The number of key heads in the computation, each with equally many queries. The number is
  // keys.length, or more if some key heads serve more of these queries than others.
  int64_t key_slots = 0;

  // Returns the key head of a slot as an offset from keys.first.
  int64_t KeyOfSlot(int64_t slot, int64_t share) const {
    return (queries.first + slot * (queries.length / key_slots)) / share - keys.first;
  }
};

// KeyOfSlot takes `share`, the number of query heads per key head in the whole model (query_heads /
// key_heads).
inline HeadPlace HeadsOf(int64_t query_heads, int64_t key_heads, int64_t tp, int64_t index) {
  const int64_t share = query_heads / key_heads;
  HeadPlace place{.queries = PartOf(query_heads, tp, index)};
  const int64_t last = (place.queries.end() - 1) / share;
  place.keys.first = place.queries.first / share;
  place.keys.length = last - place.keys.first + 1;
  const bool is_even = place.keys.length == 1 ||
                       (place.queries.first % share == 0 && place.queries.length % share == 0);
  place.key_slots =
      is_even ? place.keys.length : place.queries.length / std::gcd(share, place.queries.length);
  return place;
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_LAYOUT_LAYOUT_PARTS_H_
