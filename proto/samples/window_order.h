// The order in which a run reads the windows of a token file, as a pure function of the seed.
//
// A file of T tokens is cut into W = (T - 1) / seq_length windows of seq_length + 1 tokens.
// Neighboring windows share one token: the last target of one is the first input of the next. Each
// file has its own order of positions p = 0, 1, 2, ... Position p belongs to data epoch p / W and
// uses window PermuteIndex(seed, p / W, W, p % W). Each data epoch therefore contains every window
// once, in a different order.
#ifndef TRAINYARD_PROTO_SAMPLES_WINDOW_ORDER_H_
#define TRAINYARD_PROTO_SAMPLES_WINDOW_ORDER_H_

#include <cstdint>

#include "proto/samples/blend_order.h"

namespace trainyard {

// Returns the place of `index` in a permutation of [0, size). Needs constant memory and, on
// average, constant time. Precondition: 0 <= index < size.
int64_t PermuteIndex(uint64_t seed, int64_t epoch, int64_t size, int64_t index);

// Returns the number of windows in a file of `tokens` tokens; 0 if the file is too short for one.
int64_t WindowsIn(int64_t tokens, int64_t seq_length);

// A window begins at token `number` * seq_length of its file.
struct Window {
  int64_t pass = 0;    // Data epoch of the source, from 0.
  int64_t number = 0;  // In the file, from 0.
};

// Returns the window of a sample. `seed` is data.seed, and `windows` is the number of windows of
// the sample's source. Precondition: windows > 0.
Window ShuffledWindow(const BlendOrder::Place& place, uint64_t seed, int64_t windows);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SAMPLES_WINDOW_ORDER_H_
