// SHA-1 (FIPS 180-4), as far as datasketch uses it.
#ifndef TRAINYARD_DATA_DEDUP_SHA1_H_
#define TRAINYARD_DATA_DEDUP_SHA1_H_

#include <cstdint>
#include <string_view>

namespace trainyard::data {

// The first four bytes of the SHA-1 of `text`, as a little-endian number. Uses the processor's
// instructions for SHA if it has them.
uint32_t Sha1Prefix(std::string_view text);

// As Sha1Prefix, without instructions beyond those of every processor. For tests.
uint32_t PortableSha1Prefix(std::string_view text);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_SHA1_H_
