// Fuzzes the telemetry lines that trainers write.
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "worker/tail/rank_account.h"
#include "worker/tail/telemetry_line.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  const auto record =
      worker::ParseTelemetryLine(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!record.ok()) {
    FUZZ_EXPECT(!record.status().message().empty());
    return 0;
  }
  worker::RankAccount account;
  account.Note(*record, {});
  account.Note(*record, {});
  FUZZ_EXPECT(account.step() >= 0);
  // The record is later sent over the network, and protobuf rejects text that is not UTF-8.
  v1::TelemetryRecord back;
  FUZZ_EXPECT(back.ParseFromString(record->SerializeAsString()));
  return 0;
}
