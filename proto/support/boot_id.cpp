#include "proto/support/boot_id.h"

#include "absl/status/statusor.h"
#include "absl/strings/strip.h"
#include "proto/support/durable_file.h"

namespace trainyard {

std::string BootId() {
  const absl::StatusOr<std::string> text = ReadSmallFile("/proc/sys/kernel/random/boot_id");
  return text.ok() ? std::string(absl::StripSuffix(*text, "\n")) : "";
}

}  // namespace trainyard
