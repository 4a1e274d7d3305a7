// xxHash64 checksums for detecting damaged records.
#ifndef TRAINYARD_CONTROLLER_STORE_SUPPORT_CHECKSUM_H_
#define TRAINYARD_CONTROLLER_STORE_SUPPORT_CHECKSUM_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace trainyard::controller {

// `seed` identifies the place of the bytes, so that a misplaced record is detected
// too.
uint64_t Checksum(std::string_view bytes, uint64_t seed);

// Returns a hash of several numbers that depends on their order. Used to compute a seed from the
// key columns of a record.
uint64_t HashOf(std::initializer_list<int64_t> numbers);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SUPPORT_CHECKSUM_H_
