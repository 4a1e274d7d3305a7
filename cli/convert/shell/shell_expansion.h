// Expands the words of a shell script: quotes, variables, arithmetic, and the command substitutions
// whose result is in the script.
#ifndef TRAINYARD_CLI_CONVERT_SHELL_SHELL_EXPANSION_H_
#define TRAINYARD_CLI_CONVERT_SHELL_SHELL_EXPANSION_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cli/convert/shell/shell_syntax.h"
#include "cli/convert/shell/shell_text.h"

namespace trainyard::cli {

// An expression whose value is not in the script stays as it is written, and its bytes are marked
// as open. Expansion never fails.
class ShellExpander {
 public:
  explicit ShellExpander(ShellState& state) : state_(state) {}

  // Returns the fields of the words after word splitting. A `*` or `?` without quotes would match
  // files, and is marked as open.
  std::vector<ShellText> Fields(const std::vector<RawWord>& words);
  // Returns the text of one word without word splitting, as in an assignment.
  ShellText Value(const RawWord& word);
  // Returns the items of a list, `(a b)` with its parentheses.
  std::vector<ShellText> Items(const RawWord& list);
  // Returns the text of a here-document.
  ShellText Document(const RawWord& document);
  std::optional<int64_t> Arithmetic(const RawWord& expression);

  // True if the expanded text exceeded the limit on its size. All later expansions are empty.
  bool is_exhausted() const { return expanded_ > kMaxExpandedBytes; }
  // The names of the variables expanded so far.
  const std::set<std::string>& used() const { return used_; }

 private:
  static constexpr size_t kMaxExpandedBytes = 1 << 20;
  static constexpr int kMaxDepth = 32;

  struct Output {
    std::vector<ShellText> fields;
    ShellText current;
    bool has_current = false;
    bool splits = true;
  };
  // The line of an expansion, and whether it is in quotes.
  struct Place {
    int line;
    bool is_quoted;
  };
  // The parts of `${NAME[SUBSCRIPT]OPERATION}`.
  struct Parameter {
    std::string written;
    std::string name;
    std::string subscript;
    std::string operation;
    bool is_length = false;
  };

  void Expand(absl::string_view raw, Place place, Output& out);
  size_t ExpandQuoted(absl::string_view raw, size_t at, Place& place, Output& out);
  size_t ExpandBackslash(absl::string_view raw, size_t at, Place& place, Output& out);
  size_t ExpandDollar(absl::string_view raw, size_t at, Place& place, Output& out);
  void ExpandParameter(const Parameter& parameter, Place place, Output& out);
  // Reads `:-word`, `:+word`, `:=word` and `:?word`. Returns false for other operations.
  bool ExpandDefault(const Parameter& parameter, const std::vector<ShellText>* items, Place place,
                     Output& out);
  void ExpandItems(const std::vector<ShellText>& items, const Parameter& parameter, Place place,
                   Output& out);
  void Substitute(absl::string_view command, absl::string_view written, Place place, Output& out);
  std::optional<std::string> ResultOf(absl::string_view command, int line);

  // Returns the value that the parameter names before its operation; null if it is not set.
  const std::vector<ShellText>* Lookup(const Parameter& parameter, std::vector<ShellText>& storage);
  std::optional<std::string> KnownValue(const std::string& name);
  // Applies an operation such as `%.sh`. Returns nullopt if the result is not in the script.
  std::optional<ShellText> Edited(const ShellText& text, const std::string& operation, int line);
  std::string PlainText(absl::string_view raw, int line, bool& is_known);

  void Append(const ShellText& text, bool is_quoted, Output& out);
  void AppendLiteral(absl::string_view bytes, Place place, Output& out);
  static void EndField(Output& out);

  ShellState& state_;
  size_t expanded_ = 0;
  int depth_ = 0;
  std::set<std::string> used_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SHELL_SHELL_EXPANSION_H_
