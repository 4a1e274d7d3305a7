// Fuzzes the splitting of text into pieces and its normalization.
#include <string>
#include <string_view>

#include "data/split/piece_scanner.h"
#include "data/split/scalar_split.h"
#include "data/unicode/nfc.h"
#include "proto/text/utf8.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace trainyard::data;

void CheckPieces(SplitRule rule, std::string_view text) {
  PieceScanner scanner(rule, text);
  uint32_t ends[7];
  size_t begin = 0;
  while (const size_t count = scanner.Next(ends, 7)) {
    for (size_t i = 0; i < count; ++i) {
      FUZZ_EXPECT(begin < text.size());
      const size_t end = ScalarPieceEnd(rule, text, begin);
      FUZZ_EXPECT(ends[i] == end);
      FUZZ_EXPECT(end > begin && trainyard::IsUtf8(text.substr(begin, end - begin)));
      begin = end;
    }
  }
  FUZZ_EXPECT(begin == text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text =
      trainyard::ReplaceInvalidUtf8({reinterpret_cast<const char*>(data), size});
  for (const SplitRule rule :
       {SplitRule::kGpt2, SplitRule::kLlama3, SplitRule::kQwen3, SplitRule::kDeepseek3}) {
    CheckPieces(rule, text);
  }
  const std::string normalized = ToNfc(text);
  FUZZ_EXPECT(IsNfc(text) == (normalized == text));
  FUZZ_EXPECT(IsNfc(normalized) && trainyard::IsUtf8(normalized));
  return 0;
}
