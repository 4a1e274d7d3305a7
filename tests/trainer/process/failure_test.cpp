#include "trainer/process/failure.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <new>
#include <stdexcept>

#include "tests/proto/memory/memory_configs.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Returns the Failure for the exception that `run` throws.
template <typename Run>
Failure FailureOfRun(Run run, const RunConfig* config = nullptr) {
  try {
    run();
  } catch (const std::exception& error) {
    return FailureOf(error, config);
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

void ExpectNamesSettings(const Failure& failure) {
  EXPECT_EQ(failure.code, ExitCode::kBadConfig);
  for (const char* part : {"more memory than there is", "layout.micro_batch", "layout.recompute"}) {
    EXPECT_NE(failure.message.find(part), std::string::npos) << failure.message;
  }
  EXPECT_EQ(failure.message.find('\n'), std::string::npos) << failure.message;
}

TEST(FailureTest, CudaOutOfMemoryIsAMatterOfTheSettings) {
  const Failure failure = FailureOfRun([] {
    TORCH_CHECK_WITH(OutOfMemoryError, false,
                     "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.10 GiB total "
                     "capacity). If reserved memory is >> allocated memory try setting "
                     "max_split_size_mb.  See documentation for Memory Management");
  });
  ExpectNamesSettings(failure);
  EXPECT_NE(failure.message.find("Tried to allocate 2.00 GiB (GPU 0; 79.10 GiB total capacity)."),
            std::string::npos)
      << failure.message;
  EXPECT_EQ(failure.message.find("max_split_size_mb"), std::string::npos) << failure.message;
}

TEST(FailureTest, LibrariesThatReportItAsAPlainErrorCountToo) {
  for (const char* text : {"CUDA error: out of memory\nCUDA kernel errors might be reported later.",
                           "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"}) {
    ExpectNamesSettings(FailureOfRun([&] { TORCH_CHECK(false, text); }));
  }
}

TEST(FailureTest, TheHostsAllocatorsCountToo) {
  // 4 PiB exceed the address space.
  ExpectNamesSettings(FailureOfRun([] { torch::empty({int64_t{1} << 50}, torch::kFloat); }));
  ExpectNamesSettings(FailureOfRun([] { throw std::bad_alloc(); }));
}

TEST(FailureTest, ADevicesShortageComesWithThePredictionOfItsRun) {
  RunConfig config = Llama3_1b5(16);
  const auto on_device = [] {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate 2.00 GiB.");
  };
  const Failure failure = FailureOfRun(on_device, &config);
  ExpectNamesSettings(failure);
  EXPECT_NE(failure.message.find("2.00 GiB. The prediction was 70.2 GB (weights 6.2 GB, "),
            std::string::npos)
      << failure.message;
  const Failure on_host = FailureOfRun([] { throw std::bad_alloc(); }, &config);
  EXPECT_EQ(on_host.message.find("prediction"), std::string::npos) << on_host.message;
  config.resources.device = DeviceKind::kCpu;
  EXPECT_EQ(FailureOfRun(on_device, &config).message.find("prediction"), std::string::npos);
}

TEST(FailureTest, TheKernelsOwnCallsCountToo) {
  ExpectNamesSettings(FailureOfRun([] { throw std::runtime_error("cudaMalloc: out of memory"); }));
}

TEST(FailureTest, OtherErrorsKeepTheirCode) {
  Failure failure = FailureOfRun([] { throw TrainerError(ExitCode::kBadData, "out of memory"); });
  EXPECT_EQ(failure.code, ExitCode::kBadData);
  EXPECT_EQ(failure.message, "out of memory");
  failure = FailureOfRun([] { torch::ones({2, 3}).matmul(torch::ones({2, 3})); });
  EXPECT_EQ(failure.code, ExitCode::kInternal);
  failure = FailureOfRun([] { throw std::runtime_error("broken"); });
  EXPECT_EQ(failure.code, ExitCode::kInternal);
  EXPECT_EQ(failure.message, "broken");
}

}  // namespace
}  // namespace trainyard::trainer
