// Ignore files with the syntax of .gitignore.
#ifndef TRAINYARD_PROTO_CODE_IGNORE_RULES_H_
#define TRAINYARD_PROTO_CODE_IGNORE_RULES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trainyard::code {

// Rules of all ignore files of a tree. The last matching rule decides.
class IgnoreRules {
 public:
  static constexpr std::size_t kMaxRules = 2'000;
  static constexpr std::size_t kMaxPatternBytes = 1'024;

  // Appends the rules of an ignore file. `directory` is the directory of the file, relative to the
  // root; empty for the root. `origin` names the file in errors. INVALID_ARGUMENT: there are too
  // many rules, or a pattern is too long.
  absl::Status Append(absl::string_view text, absl::string_view directory,
                      absl::string_view origin);

  // Returns true if the last matching rule excludes the path, false if it includes the path, and
  // nullopt if no rule matches. `path` is relative to the root. Everything in an excluded directory
  // is excluded, so callers ask for each directory of a path first.
  std::optional<bool> Decide(absl::string_view path, bool is_directory) const;

  // Drops the rules appended after the first `count`, when a walk leaves a directory.
  std::size_t size() const { return rules_.size(); }
  void Truncate(std::size_t count) { rules_.resize(count); }

 private:
  struct Rule {
    std::string directory;  // The rule applies to paths below it. Empty: to all paths.
    std::vector<std::string> parts;
    bool negated = false;
    bool directories_only = false;
    bool anchored = false;  // Matches only directly from `directory`.
  };

  static std::optional<Rule> RuleOf(absl::string_view line, absl::string_view directory);
  static bool Matches(const Rule& rule, absl::string_view path, bool is_directory);

  std::vector<Rule> rules_;
};

// True if the name matches the pattern with `*`, `?`, `[a-z]`, `[!a-z]` and `\`. The time is at
// most the product of the two lengths.
bool MatchesName(absl::string_view pattern, absl::string_view name);

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_IGNORE_RULES_H_
