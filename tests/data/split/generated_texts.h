// Random texts that mix the classes of characters that the split rules distinguish.
#ifndef TRAINYARD_TESTS_DATA_SPLIT_GENERATED_TEXTS_H_
#define TRAINYARD_TESTS_DATA_SPLIT_GENERATED_TEXTS_H_

#include <cstdint>
#include <string>

namespace trainyard::data {

// Equal numbers give equal texts on each machine. Most texts have fewer than 300 bytes, and each
// eighth number gives runs that are longer than a window of the scanner.
std::string GeneratedText(uint64_t number);

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_SPLIT_GENERATED_TEXTS_H_
