#include "cli/convert/shell/shell_condition.h"

#include <cstdint>

#include "absl/strings/numbers.h"

namespace trainyard::cli {
namespace {

using Truth = std::optional<bool>;

Truth And(Truth a, Truth b) {
  if (a == Truth(false) || b == Truth(false)) return false;
  return a.has_value() && b.has_value() ? Truth(true) : std::nullopt;
}

Truth Not(Truth a) { return a.has_value() ? Truth(!*a) : std::nullopt; }

Truth Or(Truth a, Truth b) { return Not(And(Not(a), Not(b))); }

class TestReader {
 public:
  TestReader(const std::vector<ShellText>& words, bool is_extended, std::set<std::string>& unset)
      : words_(words), is_extended_(is_extended), unset_(unset) {}

  Truth Read() {
    if (words_.empty()) return false;
    const Truth truth = Alternatives();
    return is_valid_ && at_ == words_.size() ? truth : std::nullopt;
  }

 private:
  static constexpr int kMaxDepth = 32;

  bool Is(size_t at, const std::string& text) const {
    return at < words_.size() && IsKnown(words_[at]) && BytesOf(words_[at]) == text;
  }
  bool TakeWord(const std::string& text) {
    if (!Is(at_, text)) return false;
    ++at_;
    return true;
  }

  Truth Alternatives() {
    Truth truth = Conjunction();
    while (is_valid_ && (TakeWord("||") || TakeWord("-o"))) truth = Or(truth, Conjunction());
    return truth;
  }

  Truth Conjunction() {
    Truth truth = Negation();
    while (is_valid_ && (TakeWord("&&") || TakeWord("-a"))) truth = And(truth, Negation());
    return truth;
  }

  Truth Negation() {
    bool is_negated = false;
    while (at_ + 1 < words_.size() && !IsBinary(at_ + 1) && TakeWord("!")) {
      is_negated = !is_negated;
    }
    const Truth truth = Primary();
    return is_negated ? Not(truth) : truth;
  }

  bool IsBinary(size_t at) const {
    static const std::set<std::string> operators = {"=",   "==",  "!=",  "<",   ">",
                                                    "=~",  "-eq", "-ne", "-lt", "-le",
                                                    "-gt", "-ge", "-nt", "-ot", "-ef"};
    return at + 1 < words_.size() && IsKnown(words_[at]) && operators.contains(BytesOf(words_[at]));
  }

  Truth Primary() {
    if (at_ >= words_.size()) return Invalid();
    if (IsBinary(at_ + 1)) {
      at_ += 3;
      return Compared(words_[at_ - 3], BytesOf(words_[at_ - 2]), words_[at_ - 1]);
    }
    if (Is(at_, "(") && ++depth_ <= kMaxDepth) {
      ++at_;
      const Truth truth = Alternatives();
      return TakeWord(")") ? truth : Invalid();
    }
    const std::string word = BytesOf(words_[at_]);
    const bool is_unary = word.size() == 2 && word[0] == '-' && at_ + 1 < words_.size();
    if (is_unary && IsKnown(words_[at_])) {
      at_ += 2;
      if (word == "-z") return Not(IsNotEmpty(words_[at_ - 1]));
      return word == "-n" ? IsNotEmpty(words_[at_ - 1]) : std::nullopt;
    }
    return IsNotEmpty(words_[at_++]);
  }

  Truth Invalid() {
    is_valid_ = false;
    return std::nullopt;
  }

  Truth IsNotEmpty(const ShellText& text) {
    if (IsUnsetReference(text)) {
      unset_.insert(BytesOf(text));
      return false;
    }
    for (const ShellGlyph& glyph : text) {
      if (glyph.source == ShellGlyph::Source::kKnown) return true;
    }
    return text.empty() ? Truth(false) : std::nullopt;
  }

  Truth Compared(const ShellText& left, const std::string& op, const ShellText& right) const {
    if (!IsKnown(left) || !IsKnown(right)) return std::nullopt;
    const std::string a = BytesOf(left), b = BytesOf(right);
    if (op == "=" || op == "==") return is_extended_ ? MatchesGlob(right, a) : a == b;
    if (op == "!=") return is_extended_ ? !MatchesGlob(right, a) : a != b;
    if (op == "<") return a < b;
    if (op == ">") return a > b;
    int64_t x = 0, y = 0;
    if (!absl::SimpleAtoi(a, &x) || !absl::SimpleAtoi(b, &y)) return std::nullopt;
    if (op == "-eq") return x == y;
    if (op == "-ne") return x != y;
    if (op == "-lt") return x < y;
    if (op == "-le") return x <= y;
    if (op == "-gt") return x > y;
    return op == "-ge" ? Truth(x >= y) : std::nullopt;
  }

  const std::vector<ShellText>& words_;
  bool is_extended_;
  std::set<std::string>& unset_;
  size_t at_ = 0;
  int depth_ = 0;
  bool is_valid_ = true;
};

}  // namespace

std::optional<bool> EvaluateTest(const std::vector<ShellText>& words, bool is_extended,
                                 std::set<std::string>& taken_as_unset) {
  return TestReader(words, is_extended, taken_as_unset).Read();
}

}  // namespace trainyard::cli
