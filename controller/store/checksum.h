// xxHash64, by which damaged records are found.
#ifndef TRAINYARD_CONTROLLER_STORE_CHECKSUM_H_
#define TRAINYARD_CONTROLLER_STORE_CHECKSUM_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace trainyard::controller {

// The seed ties the bytes to their place, so that a record in the wrong place is found too.
uint64_t Checksum(std::string_view bytes, uint64_t seed);

// Hash of several numbers, in order: a seed made of a record's key columns.
uint64_t HashOf(std::initializer_list<int64_t> numbers);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_CHECKSUM_H_
