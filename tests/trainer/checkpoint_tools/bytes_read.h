// Returns the number of bytes that this process has read from files so far.
#ifndef TRAINYARD_TESTS_TRAINER_CHECKPOINT_TOOLS_BYTES_READ_H_
#define TRAINYARD_TESTS_TRAINER_CHECKPOINT_TOOLS_BYTES_READ_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace trainyard::trainer {

inline int64_t BytesRead() {
  std::ifstream file("/proc/self/io");
  std::string key;
  int64_t bytes = -1;
  file >> key >> bytes;
  EXPECT_EQ(key, "rchar:");
  return bytes;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_CHECKPOINT_TOOLS_BYTES_READ_H_
