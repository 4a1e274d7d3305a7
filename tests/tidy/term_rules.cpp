#include "tests/tidy/term_rules.h"

#include <regex>
#include <string>
#include <vector>

#include "tests/tidy/literals.h"
#include "tests/tidy/user_texts.h"

namespace trainyard::tidy {
namespace {

struct Term {
  std::regex retired;
  const char* instead;
  bool in_user_texts_only = false;
};

const std::vector<Term>& Terms() {
  const auto word = [](const std::string& pattern, const char* instead,
                       bool in_user_texts_only = false) {
    return Term{std::regex("\\b(" + pattern + ")\\b", std::regex::icase), instead,
                in_user_texts_only};
  };
  static const std::vector<Term> terms{
      word("hangs?|hanging|hung|keeps? the gang waiting", "stalled, or blocked for a disk"),
      word("stragglers?|straggling", "slow rank"),
      word("(trains?|trained|training) (it |them |the steps )?again|retrain(s|ed|ing)?|"
           "abandoned (step|part|branch)(s|es)?",
           "redone"),
      // Documents about the trainer describe a save as an operation.
      word("(an?|the|an|each|every|first|next|last|previous|newest|failed|slow|late) saves?",
           "checkpoint; save is a verb", true),
      // Values are spelled NaN and Inf.
      {std::regex("\\bnan\\b|[Nn]on-finite"), "not finite, or NaN for a value", true},
      word("colour\\w*|behaviour\\w*|grey\\w*|centre[ds]?|neighbour\\w*|labelled|cancelled|"
           "(util|normal|recogn|summar|optim|serial|synchron|organ|priorit)is(e|es|ed|ing|ation)|"
           "initialis(e|es|ed|ing)",
           "the American spelling"),
  };
  return terms;
}

// True for files that are checked as a whole.
bool IsWhollyText(const std::string& path) {
  return HasExtension(path, {".md", ".proto"}) || IsBelowAny(path, {"deploy", "recipes"});
}

void Check(const SourceFile& file, const Literal& text, bool is_user_text, Violations& violations) {
  for (const Term& term : Terms()) {
    std::smatch match;
    if (term.in_user_texts_only && !is_user_text) continue;
    if (!std::regex_search(text.text, match, term.retired)) continue;
    violations.push_back(file.path + ":" + std::to_string(text.line) + ": says \"" + match.str() +
                         "\"; say " + term.instead);
  }
}

}  // namespace

Violations CheckTerms(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    if (file.path == "CHANGELOG.md") continue;
    for (const Literal& text : UserTextsOf(file)) Check(file, text, true, violations);
    if (!IsWhollyText(file.path)) continue;
    int number = 0;
    for (const std::string_view line : SplitLines(file.text)) {
      Check(file, {++number, std::string(line)}, false, violations);
    }
  }
  return violations;
}

}  // namespace trainyard::tidy
