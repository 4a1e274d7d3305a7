// Formats sizes and numbers of files for people.
#ifndef TRAINYARD_PROTO_CODE_SIZE_TEXT_H_
#define TRAINYARD_PROTO_CODE_SIZE_TEXT_H_

#include <cstdint>
#include <string>

namespace trainyard::code {

// Returns a size in powers of 1000, such as "8.1 MB".
std::string DecimalSize(int64_t bytes);

// Returns a number such as "1,204".
std::string GroupedNumber(int64_t number);

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_SIZE_TEXT_H_
