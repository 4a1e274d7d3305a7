#include <gtest/gtest.h>
#include <torch/types.h>

namespace trainyard::trainer {
namespace {

// Tests that are started by a command that promises a GPU fail without one.
class GpuEnvironment : public ::testing::Environment {
 public:
  void SetUp() override { ASSERT_TRUE(at::hasCUDA()) << "LibTorch sees no GPU"; }
};

[[maybe_unused]] const auto* const kGpuEnvironment =
    ::testing::AddGlobalTestEnvironment(new GpuEnvironment);

}  // namespace
}  // namespace trainyard::trainer
