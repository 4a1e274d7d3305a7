// Fuzzes the groups of documents in the files that record inputs. The first two bytes of the input
// are the number of tokens of the group.
#include <string_view>

#include "data/tokens/source_group.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::data;
  if (size < 2) return 0;
  const int64_t end = data[0] + 256 * data[1];
  const auto documents =
      ParseSourceGroup({reinterpret_cast<const char*>(data) + 2, size - 2}, 0, end);
  if (!documents) return 0;
  FUZZ_EXPECT(documents->size() <= source_format::kGroupDocuments);
  int64_t token = 0;
  for (const SourceDocument& document : *documents) {
    FUZZ_EXPECT(document.first_token == token && document.tokens >= 0);
    FUZZ_EXPECT(document.place.position >= 0);
    token += document.tokens;
  }
  FUZZ_EXPECT(token == end);
  return 0;
}
