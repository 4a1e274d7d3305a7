#include "worker/tail/environment_line.h"

#include <algorithm>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::worker {
namespace {

std::string TextOrEmpty(const TelemetryValues& values, const char* key) {
  const auto found = values.find(key);
  const auto* text = found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? "" : *text;
}

std::string ShortText(const TelemetryValues& values, const char* key) {
  return std::string(Utf8Prefix(TextOrEmpty(values, key), kMaxEnvironmentTextBytes));
}

}  // namespace

absl::Status ReadEnvironment(const TelemetryValues& values, v1::EnvironmentRecord& record) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t omitted, Count(values, telemetry::kPackagesOmitted, 0));
  const std::string packages = TextOrEmpty(values, telemetry::kPackages);
  if (packages.size() > kMaxEnvironmentPackagesBytes) {
    return Missing(telemetry::kPackages,
                   absl::StrCat("a text of at most ", kMaxEnvironmentPackagesBytes, " bytes"));
  }
  for (const absl::string_view package : absl::StrSplit(packages, ' ', absl::SkipEmpty())) {
    record.add_packages(std::string(package));
  }
  record.set_packages_omitted(static_cast<int32_t>(std::min<int64_t>(omitted, 1'000'000)));
  record.set_interpreter(ShortText(values, telemetry::kInterpreter));
  record.set_interpreter_version(ShortText(values, telemetry::kInterpreterVersion));
  record.set_driver(ShortText(values, telemetry::kDriver));
  record.set_cuda(ShortText(values, telemetry::kCuda));
  record.set_nccl(ShortText(values, telemetry::kNccl));
  record.set_image(ShortText(values, telemetry::kImage));
  record.set_image_digest(ShortText(values, telemetry::kImageDigest));
  record.set_problem(ShortText(values, telemetry::kProblem));
  return absl::OkStatus();
}

}  // namespace trainyard::worker
