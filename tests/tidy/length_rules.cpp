#include "tests/tidy/length_rules.h"

#include <string>

#include "tests/tidy/cpp_text.h"

namespace trainyard::tidy {
namespace {

// Prose and data may be longer than code.
bool MayBeLong(const std::string& path) {
  return HasExtension(path, {".md", ".txt", ".yml", ".json"});
}

bool IsGenerated(const std::string& text) { return text.starts_with("// Generated from "); }

}  // namespace

Violations CheckSupportSize(const SourceTree& tree) {
  int lines = 0;
  for (const SourceFile& file : tree) {
    if (!IsBelow(file.path, "proto/support") || !IsCode(file.path)) continue;
    lines += static_cast<int>(SplitLines(file.text).size());
  }
  if (lines <= kMaxSupportLines) return {};
  return {At("proto/support", 1, std::to_string(lines) + " lines; find a room for some of them")};
}

Violations CheckFileLengths(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    const int lines = static_cast<int>(SplitLines(file.text).size());
    if (MayBeLong(file.path) || lines <= kMaxFileLines) continue;
    violations.push_back(
        At(file.path, kMaxFileLines, std::to_string(lines) + " lines; split the file by theme"));
  }
  return violations;
}

Violations CheckFunctionLengths(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    if (!IsCode(file.path) || IsGenerated(file.text)) continue;
    for (const FunctionBody& body : FunctionsOf(file.text)) {
      const int lines = body.last_line - body.first_line + 1;
      if (lines <= kMaxFunctionLines) continue;
      violations.push_back(At(file.path, body.first_line,
                              std::to_string(lines) + " lines: " + body.signature.substr(0, 60)));
    }
  }
  return violations;
}

}  // namespace trainyard::tidy
