// Fuzzes job files: YAML or JSON text, followed by `--set` values after the first NUL byte.
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/rules.h"
#include "proto/json/message_json.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  std::vector<std::string> parts =
      absl::StrSplit(std::string(reinterpret_cast<const char*>(data), size), '\0');
  const std::string text = parts.front();
  parts.erase(parts.begin());
  const auto reader = [&](const std::string& reference,
                          const std::string&) -> absl::StatusOr<JobFileText> {
    // Every file name leads to the same text, so `extends` can form a cycle.
    if (reference.size() < 2) return JobFileText{reference + ".yaml", text};
    if (reference == "job.yaml") return JobFileText{reference, text};
    return absl::NotFoundError("no file");
  };
  const auto resolved = ResolveJobFile("job.yaml", parts, reader);
  if (!resolved.ok()) {
    FUZZ_EXPECT(!resolved.status().message().empty());
    return 0;
  }
  FUZZ_EXPECT(CheckJobSpec(resolved->spec, resolved->origins).empty());
  FUZZ_EXPECT(WorldSize(resolved->spec) > 0);
  // The controller resolves the JSON form of a resolved job again. That must not change the job.
  const std::string json = MessageToJson(resolved->spec).dump();
  const auto again = ResolveJobFile(
      "spec", {}, [&](const std::string&, const std::string&) -> absl::StatusOr<JobFileText> {
        return JobFileText{"spec", json};
      });
  FUZZ_EXPECT(again.ok());
  FUZZ_EXPECT(again->spec.SerializeAsString() == resolved->spec.SerializeAsString());
  return 0;
}
