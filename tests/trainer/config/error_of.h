// Returns the message of the error that a call throws.
#ifndef TRAINYARD_TESTS_TRAINER_CONFIG_ERROR_OF_H_
#define TRAINYARD_TESTS_TRAINER_CONFIG_ERROR_OF_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// Expects a TrainerError with this code and returns its message; "no error" if the call throws
// none.
inline std::string ErrorOf(const std::function<void()>& call, ExitCode code) {
  try {
    call();
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_CONFIG_ERROR_OF_H_
