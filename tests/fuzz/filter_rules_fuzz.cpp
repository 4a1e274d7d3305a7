// Fuzzes the files of filter rules. A filter must be able to read the rules that it writes, and
// filters with equal rules must give the same verdict. The input is also a document, which the
// filter judges.
#include <string>

#include "data/filter/filter.h"
#include "proto/text/utf8.h"
#include "tests/fuzz/fuzz_target.h"

namespace trainyard::data {
namespace {

void Check(const Filter& filter, const std::string& text) {
  const auto again = Filter::FromYaml(filter.ToYaml(), "again");
  FUZZ_EXPECT(again.ok());
  FUZZ_EXPECT(again->rule_names().size() <= filter.rule_names().size());
  // Presets can contain a rule twice, before and behind an edit. A rule file replaces the first
  // one.
  if (again->ToYaml() != filter.ToYaml()) return;
  FUZZ_EXPECT(again->rule_names() == filter.rule_names());
  FilterWorkspace first, second;
  const Verdict verdict = filter.Judge(text, first);
  const Verdict other = again->Judge(text, second);
  FUZZ_EXPECT(verdict.dropped_by == other.dropped_by);
  FUZZ_EXPECT(verdict.text == other.text);
  FUZZ_EXPECT(verdict.kept() || *verdict.dropped_by < filter.rule_names().size());
}

}  // namespace
}  // namespace trainyard::data

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::data;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto filter = Filter::FromYaml(text, "rules.yaml");
  if (!filter.ok()) {
    FUZZ_EXPECT(filter.status().message().find("rules.yaml") != std::string_view::npos);
    return 0;
  }
  Check(*filter, trainyard::ReplaceInvalidUtf8(text));
  return 0;
}
