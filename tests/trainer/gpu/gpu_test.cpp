#include <gtest/gtest.h>
#include <torch/types.h>

namespace trainyard::trainer {
namespace {

// The command that starts these tests guarantees a GPU, so they fail if there is none.
class GpuEnvironment : public ::testing::Environment {
 public:
  void SetUp() override { ASSERT_TRUE(at::hasCUDA()) << "LibTorch sees no GPU"; }
};

[[maybe_unused]] const auto* const kGpuEnvironment =
    ::testing::AddGlobalTestEnvironment(new GpuEnvironment);

}  // namespace
}  // namespace trainyard::trainer
