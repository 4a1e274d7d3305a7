#include "trainer/checkpoint/host_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;

// Memory cannot be locked in a build without CUDA, nor in a GPU build on a node whose limit for
// locked memory is too low.
TEST(HostMemoryTest, TellsThatItIsNotLocked) {
  const HostMemory plain(100, /*for_gpu=*/false);
  EXPECT_EQ(plain.lock_failure(), "");
  const HostMemory for_gpu(100, /*for_gpu=*/true);
  EXPECT_EQ(for_gpu.lock_failure(), "this build has no CUDA");
}

TEST(HostMemoryTest, TheTextTellsTheLimitAndTheRemedy) {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const rlimit low = {4096, limit.rlim_max};
  setrlimit(RLIMIT_MEMLOCK, &low);
  const std::string text = UnlockedMemoryText(18500000000, "out of memory");
  setrlimit(RLIMIT_MEMLOCK, &limit);
  EXPECT_THAT(text, HasSubstr("18500000000 bytes"));
  EXPECT_THAT(text, HasSubstr("(out of memory)"));
  EXPECT_THAT(text, HasSubstr("a limit of 4096 bytes on locked memory"));
  EXPECT_THAT(text, HasSubstr("LimitMEMLOCK=infinity"));
}

}  // namespace
}  // namespace trainyard::trainer
