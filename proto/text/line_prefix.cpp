#include "proto/text/line_prefix.h"

#include <cstddef>
#include <string>

#include "re2/re2.h"

namespace trainyard {
namespace {

// The maximum number of prefixes of one line. Real lines have at most five.
constexpr int kMaxPrefixes = 8;

// Removes one prefix from the start of `text`. Returns false if there is none.
bool RemovePrefix(re2::StringPiece& text) {
  static const RE2 kPrefix(
      R"(\s*(?:)"
      R"(\[[^\[\]]{0,120}\]:?|)"             // "[rank0]:", "[default7]:", "[titan]", "[1,0]"
      R"(<std(?:out|err)>:|)"                // mpirun --tag-output
      R"(\d{1,6}:\s|)"                       // srun --label
      R"([a-z][a-z0-9.-]*\d:\s|)"            // pdsh: "node-1: "
      R"(\([^()]{0,120}\bpid=\d+[^()]*\)|)"  // Ray
      R"(\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?)?(?:Z|[-+]\d\d:?\d\d)?[\s:|,-]|)"
      R"(\d\d:\d\d:\d\d(?:[.,]\d+)?[\s:|,-]|)"
      R"([IWEF]\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ [^\s\]]+\]|)"  // glog
      R"((?:DEBUG|INFO|WARNING):[\w.]*:|)"                    // "INFO:root:"
      R"([\w.]+ - (?:DEBUG|INFO|WARNING) - |)"                // "root - INFO - "
      R"((?:DEBUG|INFO|WARNING)\s*[|:]|)"
      R"([-|]\s)"
      R"()\s*)");
  static const RE2 kNameOfError(R"(([\w.]+ - )(?:ERROR|CRITICAL|FATAL)\b)");
  if (RE2::Consume(&text, kPrefix)) return true;
  re2::StringPiece name;
  re2::StringPiece rest = text;
  if (!RE2::Consume(&rest, kNameOfError, &name)) return false;
  text.remove_prefix(name.size());
  return true;
}

}  // namespace

std::string_view WithoutLinePrefixes(std::string_view line) {
  re2::StringPiece text(line.data(), line.size());
  for (int i = 0; i < kMaxPrefixes && RemovePrefix(text); ++i) {
  }
  return {text.data(), text.size()};
}

std::optional<LineLabel> LineLabelOf(std::string_view line) {
  static const RE2 kLabel(R"(\s*\[([A-Za-z_]{1,40})(\d{1,6})\]:)");
  re2::StringPiece text(line.data(), line.size());
  std::string role;
  LineLabel label;
  if (!RE2::Consume(&text, kLabel, &role, &label.number)) return std::nullopt;
  label.is_local = role != "rank";
  return label;
}

}  // namespace trainyard
