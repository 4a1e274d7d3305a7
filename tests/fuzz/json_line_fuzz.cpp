// Fuzzes the lines of JSONL corpora. Every line must give the same text as nlohmann-json's parser.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "data/documents/json_line.h"
#include "data/documents/utf8_repair.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using trainyard::data::BadLineKind;
using trainyard::data::IsValidUtf8;
using trainyard::data::kBlockPadding;
using trainyard::data::LineText;

// nlohmann-json has no limit for the number of levels, keeps the last of two equal keys, skips a
// byte order mark, and takes a NUL byte for the end of the input.
bool MayDiffer(BadLineKind kind, const std::string& line) {
  if (kind == BadLineKind::kFieldTwice) return true;
  return line.size() > 1000 || line.starts_with("\xEF\xBB\xBF") ||
         line.find('\0') != std::string::npos;
}

void CheckAgainstOtherParser(const std::string& line, const LineText& parsed) {
  const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
  const bool has_text = object.is_object() && object.contains("text") && object["text"].is_string();
  if (!parsed.bad) {
    FUZZ_EXPECT(has_text);
    FUZZ_EXPECT(object["text"].get_ref<const std::string&>() == parsed.text);
    FUZZ_EXPECT(IsValidUtf8(parsed.text));
    return;
  }
  FUZZ_EXPECT(!parsed.bad->cause.empty());
  FUZZ_EXPECT(!has_text || MayDiffer(parsed.bad->kind, line));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static trainyard::data::JsonLineParser parser("text");
  std::string line(reinterpret_cast<const char*>(data), size);
  line.reserve(line.size() + kBlockPadding);
  CheckAgainstOtherParser(line, parser.Parse(line));
  std::string repaired = trainyard::data::RepairUtf8(line);
  FUZZ_EXPECT(IsValidUtf8(repaired));
  FUZZ_EXPECT(!IsValidUtf8(line) || repaired == line);
  repaired.reserve(repaired.size() + kBlockPadding);
  const LineText parsed = parser.Parse(repaired);
  FUZZ_EXPECT(!parsed.bad || parsed.bad->kind != BadLineKind::kNotUtf8);
  return 0;
}
