// Reads the environment variables that select the long form of a test (tests/long.sh).
#ifndef TRAINYARD_TESTS_FAKES_ENVIRONMENT_NUMBER_H_
#define TRAINYARD_TESTS_FAKES_ENVIRONMENT_NUMBER_H_

#include <cstdint>
#include <cstdlib>

#include "absl/strings/numbers.h"

namespace trainyard::test {

// Returns the number in this environment variable; `fallback` if it contains no number.
inline int64_t EnvironmentNumber(const char* variable, int64_t fallback) {
  const char* text = std::getenv(variable);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : fallback;
}

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_FAKES_ENVIRONMENT_NUMBER_H_
