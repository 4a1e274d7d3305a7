// Fuzzes JSON bodies of HTTP requests.
#include <string>
#include <vector>

#include "controller/http/body.h"
#include "proto/jobspec/rules.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::controller::http;
  const std::string body(reinterpret_cast<const char*>(data), size);
  const auto submit = ReadSubmitBody(body);
  // An accepted body must be complete and valid, because the core receives it unchanged.
  if (submit.ok() && submit->has_spec()) {
    FUZZ_EXPECT(trainyard::CheckJobSpec(submit->spec(), {}).empty());
  }
  std::vector<trainyard::v1::Origin> origins;
  (void)ReadPlanBody(body, origins);
  (void)ReadStopBody(body);
  (void)ReadCordonBody(body);
  (void)ReadDrainBody(body);
  (void)ReadNoteBody(body);
  return 0;
}
