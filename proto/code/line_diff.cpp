#include "proto/code/line_diff.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"

namespace trainyard::code {
namespace {

using Lines = std::vector<absl::string_view>;

// Unchanged lines shown around each change.
constexpr int kContext = 3;
constexpr char kNoLineEnd[] = "\\ No newline at end of file\n";

struct Edit {
  char kind = ' ';  // ' ' unchanged, '-' removed, '+' added
  int before = 0;   // Index of the line in the old text, or of the next one.
  int after = 0;
};

// Returns the lines with their line ends. The last line may have none.
Lines LinesOf(absl::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// Finds the shortest edit script (Myers, "An O(ND) difference algorithm and its variations").
class Comparison {
 public:
  Comparison(const Lines& before, const Lines& after)
      : before_(before),
        after_(after),
        old_size_(static_cast<int>(before.size())),
        new_size_(static_cast<int>(after.size())) {}

  std::optional<std::vector<Edit>> Edits() {
    const int limit = std::min(old_size_ + new_size_, kMaxEditedLines);
    std::vector<int> furthest(2 * static_cast<std::size_t>(limit) + 3, 0);
    for (int edits = 0; edits <= limit; ++edits) {
      if (Advance(edits, limit + 1, furthest)) return TraceBack(edits);
    }
    return std::nullopt;
  }

 private:
  // furthest[offset + d] is the furthest old line on diagonal d = old - new. Returns true at the
  // end of both texts. Stores the diagonals before the step.
  bool Advance(int edits, int offset, std::vector<int>& furthest) {
    steps_.emplace_back(furthest.begin() + offset - edits - 1,
                        furthest.begin() + offset + edits + 2);
    for (int diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const int down = furthest[offset + diagonal + 1];
      const int right = furthest[offset + diagonal - 1] + 1;
      int x = IsDown(diagonal, edits, down, right) ? down : right;
      while (x < old_size_ && x - diagonal < new_size_ && before_[x] == after_[x - diagonal]) ++x;
      furthest[offset + diagonal] = x;
      if (x >= old_size_ && x - diagonal >= new_size_) return true;
    }
    return false;
  }

  // True if the best path to the diagonal ends with an added line.
  static bool IsDown(int diagonal, int edits, int down, int right) {
    return diagonal == -edits || (diagonal != edits && right <= down);
  }

  std::vector<Edit> TraceBack(int edits) const {
    std::vector<Edit> script;
    int x = old_size_;
    int y = new_size_;
    for (; edits >= 0; --edits) {
      const std::vector<int>& furthest = steps_[edits];
      const int offset = edits + 1;
      const int diagonal = x - y;
      const int down = furthest[offset + diagonal + 1];
      const int right = furthest[offset + diagonal - 1] + 1;
      const bool is_down = IsDown(diagonal, edits, down, right);
      const int start = edits == 0 ? 0 : (is_down ? down : right);
      while (x > start) script.push_back({' ', --x, --y});
      if (edits == 0) break;
      if (is_down) {
        script.push_back({'+', x, --y});
      } else {
        script.push_back({'-', --x, y});
      }
    }
    std::reverse(script.begin(), script.end());
    return script;
  }

  const Lines& before_;
  const Lines& after_;
  const int old_size_;
  const int new_size_;
  std::vector<std::vector<int>> steps_;
};

// "3,4" for four lines from line 3 on. An empty range names the line before it.
std::string RangeText(int first, int count) {
  const int line = count == 0 ? first : first + 1;
  return count == 1 ? absl::StrCat(line) : absl::StrCat(line, ",", count);
}

class Printer {
 public:
  Printer(absl::string_view before, absl::string_view after)
      : before_(LinesOf(before)), after_(LinesOf(after)) {}

  std::optional<std::string> Print() {
    const std::optional<std::vector<Edit>> edits = Comparison(before_, after_).Edits();
    if (!edits.has_value()) return std::nullopt;
    std::string text;
    const int size = static_cast<int>(edits->size());
    for (int at = NextChange(*edits, 0); at < size;) {
      int last = at;
      for (int next = at; next < size && next - last <= 2 * kContext + 1;
           next = NextChange(*edits, next + 1)) {
        last = next;
      }
      const int begin = std::max(0, at - kContext);
      const int end = std::min(size, last + kContext + 1);
      PrintHunk(*edits, begin, end, text);
      at = NextChange(*edits, last + 1);
    }
    return text;
  }

 private:
  static int NextChange(const std::vector<Edit>& edits, int from) {
    while (from < static_cast<int>(edits.size()) && edits[from].kind == ' ') ++from;
    return from;
  }

  void PrintHunk(const std::vector<Edit>& edits, int begin, int end, std::string& text) const {
    int removed = 0;
    int added = 0;
    for (int at = begin; at < end; ++at) {
      removed += edits[at].kind != '+' ? 1 : 0;
      added += edits[at].kind != '-' ? 1 : 0;
    }
    absl::StrAppend(&text, "@@ -", RangeText(edits[begin].before, removed), " +",
                    RangeText(edits[begin].after, added), " @@\n");
    for (int at = begin; at < end; ++at) {
      const Edit& edit = edits[at];
      const absl::string_view line = edit.kind == '+' ? after_[edit.after] : before_[edit.before];
      absl::StrAppend(&text, std::string(1, edit.kind), line);
      if (line.back() != '\n') absl::StrAppend(&text, "\n", kNoLineEnd);
    }
  }

  const Lines before_;
  const Lines after_;
};

}  // namespace

std::optional<std::string> UnifiedDiff(absl::string_view before, absl::string_view after) {
  constexpr absl::string_view::size_type none = absl::string_view::npos;
  if (before.find('\0') != none || after.find('\0') != none) return std::nullopt;
  if (before == after) return "";
  return Printer(before, after).Print();
}

}  // namespace trainyard::code
