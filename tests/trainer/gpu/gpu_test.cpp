#include <gtest/gtest.h>
#include <torch/types.h>

namespace trainyard::trainer {
namespace {

// Fails the tests if there is no GPU, because the command that starts them guarantees one.
class GpuEnvironment : public ::testing::Environment {
 public:
  void SetUp() override { ASSERT_TRUE(at::hasCUDA()) << "LibTorch sees no GPU"; }
};

[[maybe_unused]] const auto* const kGpuEnvironment =
    ::testing::AddGlobalTestEnvironment(new GpuEnvironment);

}  // namespace
}  // namespace trainyard::trainer
