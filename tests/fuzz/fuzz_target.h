// Entry point for fuzzing code that reads untrusted input. With clang -fsanitize=fuzzer, libFuzzer
// calls the entry point. With other compilers, driver.cpp calls it with mutations of a corpus.
#ifndef TRAINYARD_TESTS_FUZZ_FUZZ_TARGET_H_
#define TRAINYARD_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Reads one input and returns 0. FUZZ_EXPECT checks the properties that must hold for every input.
// Crashes, sanitizer reports and hangs are failures, too.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#define FUZZ_EXPECT(condition)                                                            \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

#endif  // TRAINYARD_TESTS_FUZZ_FUZZ_TARGET_H_
