#include "trainer/checkpoint/host_copy.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

TEST(HostCopyTest, MemoryCanBeReservedTwiceBeforeItIsUsed) {
  const std::vector<TensorChunk> chunks = {WholeTensor("a", torch::arange(1000)),
                                           WholeTensor("b", torch::ones({3}))};
  HostCopy copy;
  copy.Reserve(chunks);
  copy.Reserve(chunks);
  copy.Begin(chunks);
  copy.Wait();
  ASSERT_EQ(copy.chunks().size(), 2);
  EXPECT_TRUE(copy.chunks()[0].tensor.equal(chunks[0].tensor));
  EXPECT_TRUE(copy.chunks()[1].tensor.equal(chunks[1].tensor));
}

TEST(HostCopyTest, MemoryReservedForOtherChunksIsReplaced) {
  HostCopy copy;
  copy.Reserve({WholeTensor("a", torch::ones({2}))});
  const std::vector<TensorChunk> larger = {WholeTensor("a", torch::arange(5000)),
                                           WholeTensor("b", torch::ones({7}))};
  copy.Reserve(larger);
  copy.Begin(larger);
  copy.Wait();
  EXPECT_TRUE(copy.chunks()[0].tensor.equal(larger[0].tensor));
  EXPECT_TRUE(copy.chunks()[1].tensor.equal(larger[1].tensor));
}

}  // namespace
}  // namespace trainyard::trainer
