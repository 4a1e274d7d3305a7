#include "cli/convert/shell/shell_arithmetic.h"

#include <limits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "cli/convert/shell/shell_token.h"

namespace trainyard::cli {
namespace {

using Integer = std::optional<int64_t>;

Integer Power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  if (exponent < 0) return std::nullopt;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return result;
}

Integer Quotient(const std::string& op, int64_t a, int64_t b) {
  const bool overflows = a == std::numeric_limits<int64_t>::min() && b == -1;
  if (b == 0 || overflows) return std::nullopt;
  return op == "/" ? a / b : a % b;
}

Integer Shifted(const std::string& op, int64_t a, int64_t b) {
  constexpr int64_t kBits = 63;
  if (a < 0 || b < 0 || b >= kBits) return std::nullopt;
  if (op == ">>") return a >> b;
  return a > (std::numeric_limits<int64_t>::max() >> b) ? Integer() : a << b;
}

Integer Applied(const std::string& op, int64_t a, int64_t b) {
  int64_t result = 0;
  if (op == "+") return __builtin_add_overflow(a, b, &result) ? Integer() : result;
  if (op == "-") return __builtin_sub_overflow(a, b, &result) ? Integer() : result;
  if (op == "*") return __builtin_mul_overflow(a, b, &result) ? Integer() : result;
  if (op == "/" || op == "%") return Quotient(op, a, b);
  if (op == "**") return Power(a, b);
  if (op == "<<" || op == ">>") return Shifted(op, a, b);
  if (op == "<") return a < b;
  if (op == ">") return a > b;
  if (op == "<=") return a <= b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "&") return a & b;
  if (op == "^") return a ^ b;
  if (op == "|") return a | b;
  if (op == "&&") return a != 0 && b != 0;
  return a != 0 || b != 0;
}

// Operators from the one that binds least to the one that binds most.
const std::vector<std::vector<std::string>>& Precedence() {
  static const std::vector<std::vector<std::string>> levels = {
      {"||"},       {"&&"},     {"|"},           {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
      {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}, {"**"}};
  return levels;
}

class ArithmeticParser {
 public:
  // `reads`: the number of variables that may still be read. The limit ends values that refer to
  // each other.
  ArithmeticParser(absl::string_view text, const ArithmeticVariables& variables, int depth,
                   int& reads)
      : text_(text), variables_(variables), depth_(depth), reads_(reads) {}

  Integer Parse() {
    if (depth_ > kMaxDepth) return std::nullopt;
    Integer value = Assignment();
    while (is_valid_ && Take(",")) value = Assignment();
    Skip();
    return is_valid_ && at_ == text_.size() ? value : std::nullopt;
  }

 private:
  static constexpr int kMaxDepth = 48;

  void Skip() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool Peek(absl::string_view part) {
    Skip();
    return absl::StartsWith(text_.substr(at_), part);
  }

  bool Take(absl::string_view part) {
    if (!Peek(part)) return false;
    at_ += part.size();
    return true;
  }

  Integer Invalid() {
    is_valid_ = false;
    return std::nullopt;
  }

  Integer Assignment() {
    if (++depth_ > kMaxDepth) return Invalid();
    const size_t begin = at_;
    const std::string name = Name();
    for (const std::string op : {"=", "+=", "-=", "*=", "/=", "%="}) {
      if (name.empty() || !Peek(op) || Peek("==")) continue;
      at_ += op.size();
      const Integer value = Assignment();
      --depth_;
      return Write(name, op.size() == 1 ? value : Binary(op.substr(0, 1), Read(name), value));
    }
    at_ = begin;
    const Integer value = Ternary();
    --depth_;
    return value;
  }

  Integer Ternary() {
    const Integer condition = Level(0);
    if (!Take("?")) return condition;
    const Integer yes = Assignment();
    if (!Take(":")) return Invalid();
    const Integer no = Assignment();
    if (!condition.has_value()) return std::nullopt;
    return *condition != 0 ? yes : no;
  }

  // True if the operator stands at the position and is not the start of a longer operator.
  bool IsOperator(const std::string& op) {
    if (!Peek(op)) return false;
    const char next = at_ + op.size() < text_.size() ? text_[at_ + op.size()] : '\0';
    if (next == '=') return op == "==" || op == "!=" || op == "<=" || op == ">=";
    const bool doubles = op.size() == 1 && absl::StrContains("|&*<>+-", op);
    return !(doubles && next == op[0]);
  }

  Integer Level(size_t level) {
    if (level == Precedence().size()) return Unary();
    Integer left = Level(level + 1);
    while (is_valid_) {
      std::string found;
      for (const std::string& op : Precedence()[level]) {
        if (found.empty() && IsOperator(op)) found = op;
      }
      if (found.empty()) break;
      at_ += found.size();
      if (found == "**" && ++powers_ > kMaxDepth) return Invalid();
      // Only `**` groups from right to left.
      left = Binary(found, left, found == "**" ? Level(level) : Level(level + 1));
    }
    return left;
  }

  static Integer Binary(const std::string& op, Integer left, Integer right) {
    if (!left.has_value() || !right.has_value()) return std::nullopt;
    return Applied(op, *left, *right);
  }

  Integer Unary() {
    if (++depth_ > kMaxDepth) return Invalid();
    Integer value;
    if (Take("++") || Take("--")) {
      const int64_t step = text_[at_ - 1] == '+' ? 1 : -1;
      const std::string name = Name();
      value = name.empty() ? Invalid() : Write(name, Binary("+", Read(name), step));
    } else if (Take("!")) {
      value = Binary("==", Unary(), 0);
    } else if (Take("~")) {
      value = Binary("-", -1, Unary());
    } else if (Take("-")) {
      value = Binary("-", 0, Unary());
    } else if (Take("+")) {
      value = Unary();
    } else {
      value = Primary();
    }
    --depth_;
    return value;
  }

  Integer Primary() {
    if (Take("(")) {
      const Integer value = Assignment();
      return Take(")") ? value : Invalid();
    }
    if (const std::string name = Name(); !name.empty()) {
      const Integer value = Read(name);
      if (Take("++")) Write(name, Binary("+", value, 1));
      if (Take("--")) Write(name, Binary("-", value, 1));
      return value;
    }
    return Number();
  }

  Integer Number() {
    Skip();
    const size_t begin = at_;
    while (at_ < text_.size() && IsShellNameByte(text_[at_])) ++at_;
    const absl::string_view digits = text_.substr(begin, at_ - begin);
    int64_t value = 0;
    // A leading 0 means octal digits.
    const int base = absl::StartsWith(digits, "0x") ? 16 : absl::StartsWith(digits, "0") ? 8 : 10;
    if (digits == "0") return 0;
    if (base == 10) return absl::SimpleAtoi(digits, &value) ? Integer(value) : Invalid();
    if (base == 16) return absl::SimpleHexAtoi(digits, &value) ? Integer(value) : Invalid();
    return OctalOf(digits);
  }

  Integer OctalOf(absl::string_view digits) {
    int64_t value = 0;
    for (const char digit : digits) {
      const bool is_octal = '0' <= digit && digit <= '7';
      if (!is_octal || value > std::numeric_limits<int64_t>::max() / 8 - 1) return Invalid();
      value = 8 * value + (digit - '0');
    }
    return value;
  }

  std::string Name() {
    Skip();
    const size_t begin = at_;
    if (at_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_]))) {
      return "";
    }
    while (at_ < text_.size() && IsShellNameByte(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  // A variable's value is an expression of its own; an empty value is 0.
  Integer Read(const std::string& name) {
    const std::optional<std::string> value = variables_.read(name);
    if (!value.has_value() || --reads_ < 0) return std::nullopt;
    if (absl::StripAsciiWhitespace(*value).empty()) return 0;
    constexpr int kStep = 8;
    return ArithmeticParser(*value, variables_, depth_ + kStep, reads_).Parse();
  }

  Integer Write(const std::string& name, Integer value) {
    variables_.write(name, value);
    return value;
  }

  const absl::string_view text_;
  const ArithmeticVariables& variables_;
  size_t at_ = 0;
  int depth_;
  int& reads_;
  int powers_ = 0;
  bool is_valid_ = true;
};

}  // namespace

std::optional<int64_t> EvaluateArithmetic(absl::string_view expression,
                                          const ArithmeticVariables& variables) {
  int reads = 1000;
  return ArithmeticParser(expression, variables, 0, reads).Parse();
}

}  // namespace trainyard::cli
