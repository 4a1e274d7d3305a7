#include "tests/tidy/user_texts.h"

#include <string>

namespace trainyard::tidy {
namespace {

// True for literals that must not change because stored data contains them.
bool IsDurableText(const std::string& text) {
  return text == "[trainyard] output given up here: ";  // A mark in logs of earlier workers.
}

// True for files whose literals are read by users: the product's C++ and the dashboard.
bool HasUserTexts(const std::string& path) {
  if (IsCode(path))
    return IsBelowAny(path, {"cli", "controller", "data", "proto", "trainer", "worker"});
  return IsBelow(path, "web/src") && HasExtension(path, {".ts", ".tsx"}) &&
         !path.ends_with(".test.ts");
}

}  // namespace

std::vector<Literal> UserTextsOf(const SourceFile& file) {
  if (!HasUserTexts(file.path)) return {};
  std::vector<Literal> texts = LiteralsOf(file);
  std::erase_if(texts, [](const Literal& literal) {
    const bool is_key = literal.text.find(' ') == std::string::npos;
    return is_key || IsDurableText(literal.text);
  });
  return texts;
}

}  // namespace trainyard::tidy
