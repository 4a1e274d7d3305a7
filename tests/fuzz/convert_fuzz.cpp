// Files of other trainers; the first byte chooses a format or leaves it to be found.
#include <string>

#include "cli/convert/convert.h"
#include "tests/fuzz/fuzz_target.h"
#include "yaml-cpp/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::cli;
  ConvertRequest request;
  const std::vector<std::string> formats = ConvertFormats();
  const size_t choice = size == 0 ? 0 : data[0] % (2 * formats.size());
  if (choice < formats.size() && size > 0 && data[0] < 0x20) request.format = formats[choice];
  request.sources = {{"input", std::string(reinterpret_cast<const char*>(data), size)}};
  request.nodes = size % 3;
  request.per_node = size % 9;
  const absl::StatusOr<ConvertedJob> job = ConvertToJob(request);
  if (!job.ok()) {
    FUZZ_EXPECT(!job.status().message().empty());
    return 0;
  }
  // Whatever stood in the file, the job is YAML with a name.
  const YAML::Node written = YAML::Load(job->text);
  FUZZ_EXPECT(written.IsMap() && written["name"].IsScalar());
  return 0;
}
