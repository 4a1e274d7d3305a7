// Fuzzes the messages between the processes of `trainyard data run`. A message that is accepted
// must be the same after it is written and read again.
#include <string>
#include <string_view>

#include "data/leases/message.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using trainyard::data::kLengthBytes;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto request = trainyard::data::DecodeRequest(text); request.ok()) {
    const std::string message = EncodeRequest(*request);
    const auto again = trainyard::data::DecodeRequest(message.substr(kLengthBytes));
    FUZZ_EXPECT(again.ok() && EncodeRequest(*again) == message);
  }
  if (const auto reply = trainyard::data::DecodeReply(text); reply.ok()) {
    const std::string message = EncodeReply(*reply);
    const auto again = trainyard::data::DecodeReply(message.substr(kLengthBytes));
    FUZZ_EXPECT(again.ok() && EncodeReply(*again) == message);
  }
  if (size >= kLengthBytes) {
    (void)trainyard::data::DecodeLength(std::string_view(text).substr(0, kLengthBytes),
                                        trainyard::data::kMessageBytesMax);
  }
  return 0;
}
