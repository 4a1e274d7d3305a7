#include "trainer/process/failure.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "trainer/config/trainer_error.h"
#include "trainer/start/memory_check.h"

namespace trainyard::trainer {
namespace {

// Texts that identify allocation errors without a separate error type. The errors come from the
// CUDA runtime, from cuBLAS and cuDNN (including calls by our kernels), and from LibTorch's CPU
// allocator.
constexpr std::string_view kOutOfHostMemoryText = "can't allocate memory";
constexpr std::array<std::string_view, 3> kOutOfMemoryTexts = {
    "out of memory", "STATUS_ALLOC_FAILED", kOutOfHostMemoryText};

bool IsOutOfMemory(const std::exception& error, const std::string& text) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  return std::any_of(kOutOfMemoryTexts.begin(), kOutOfMemoryTexts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

// Returns the first line of `text`, without LibTorch's advice about its allocator settings.
std::string CauseOf(const std::string& text) {
  const std::size_t end = std::min(
      {text.find('\n'), text.find(" If reserved"), text.find(" See documentation"), text.size()});
  return text.substr(0, end);
}

constexpr char kMemoryAdvice[] =
    "Lower layout.micro_batch, set layout.recompute to full, or lower train.seq_length or the size "
    "of the model.";

Failure OutOfMemory(const std::string& cause, const std::string& advice) {
  return {ExitCode::kBadConfig, "The run needs more memory than there is: " + cause + " " + advice};
}

// Returns the failure for an error that is not a TrainerError. `text` is the message of the error.
Failure FailureOfLibrary(const std::exception& error, const std::string& text,
                         const RunConfig* config) {
  if (!IsOutOfMemory(error, text)) return {ExitCode::kInternal, text};
  // GPU memory is predicted; host memory is not.
  const bool is_predicted = config != nullptr && config->resources.device == DeviceKind::kGpu &&
                            text.find(kOutOfHostMemoryText) == std::string::npos;
  return OutOfMemory(CauseOf(text),
                     is_predicted
                         ? MemoryShortageText(*config, CurrentDeviceMemory(DeviceKind::kGpu))
                         : kMemoryAdvice);
}

}  // namespace

Failure FailureOf(const std::exception& error, const RunConfig* config) {
  if (const auto* known = dynamic_cast<const TrainerError*>(&error)) {
    return {known->code(), known->what()};
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return OutOfMemory("the host is out of memory.", kMemoryAdvice);
  }
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text =
      torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  return FailureOfLibrary(error, text, config);
}

}  // namespace trainyard::trainer
