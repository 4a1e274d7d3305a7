// Fuzzes the files in which programs of PyTorch describe their error.
#include <string_view>

#include "proto/text/utf8.h"
#include "tests/fuzz/fuzz_target.h"
#include "worker/tail/error_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  const std::string message =
      worker::ErrorMessageIn(std::string_view(reinterpret_cast<const char*>(data), size));
  FUZZ_EXPECT(message.size() <= worker::kMaxErrorFileText);
  // The message becomes a part of a fact, and protobuf rejects text that is not UTF-8.
  FUZZ_EXPECT(IsUtf8(message));
  return 0;
}
