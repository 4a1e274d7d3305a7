// Fuzzes the conversion of other trainers' files. The first byte of the input, 0 to 9, selects a
// format or format detection.
#include <string>

#include "absl/strings/match.h"
#include "cli/convert/convert.h"
#include "proto/jobspec/loader.h"
#include "tests/fuzz/fuzz_target.h"
#include "yaml-cpp/yaml.h"

namespace {

// Resolves the converted job file. All its keys must be valid, so that only its values can cause an
// error.
void ResolveConverted(const std::string& text) {
  using namespace trainyard;
  const auto reader = [&](const std::string& reference,
                          const std::string& from) -> absl::StatusOr<JobFileText> {
    if (from.empty()) return JobFileText{reference, text};
    return absl::NotFoundError("no other file");
  };
  const absl::StatusOr<ResolvedSpec> resolved = ResolveJobFile("job", {}, reader);
  if (resolved.ok()) return;
  FUZZ_EXPECT(!resolved.status().message().empty());
  FUZZ_EXPECT(!absl::StrContains(resolved.status().message(), "unknown key"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::cli;
  ConvertRequest request;
  if (size == 0) return 0;
  const std::vector<std::string> formats = ConvertFormats();
  const size_t choice = static_cast<uint8_t>(data[0] - '0') % (formats.size() + 1);
  if (choice > 0) request.format = formats[choice - 1];
  request.sources = {{"input", std::string(reinterpret_cast<const char*>(data + 1), size - 1)}};
  request.nodes = size % 3;
  request.per_node = size % 9;
  request.keeps_command = size % 2 == 0;
  const absl::StatusOr<ConvertedJob> job = ConvertToJob(request);
  if (!job.ok()) {
    FUZZ_EXPECT(!job.status().message().empty());
    return 0;
  }
  // For any input, the converted job file must be valid YAML and have a name.
  const YAML::Node written = YAML::Load(job->text);
  FUZZ_EXPECT(written.IsMap() && written["name"].IsScalar());
  ResolveConverted(job->text);
  return 0;
}
