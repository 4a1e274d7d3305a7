// A reader of what strangers send, as a fuzzer sees it. With clang -fsanitize=fuzzer the same
// function is libFuzzer's; with other compilers driver.cpp mutates a corpus.
#ifndef TRAINYARD_TESTS_FUZZ_FUZZ_TARGET_H_
#define TRAINYARD_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Reads one input. What must hold for every input is checked with FUZZ_EXPECT; a crash, a
// sanitizer's report and a hang count as well. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#define FUZZ_EXPECT(condition)                                                            \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

#endif  // TRAINYARD_TESTS_FUZZ_FUZZ_TARGET_H_
