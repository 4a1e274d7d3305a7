#include "data/split/deepseek_scalar.h"

#include "data/split/scalar_runs.h"
#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

enum class Kind { kNumber, kWord, kSpace, kSymbol, kControl };

struct KindedChar {
  Kind kind;
  bool is_kana_or_han;
  size_t end;
};

Kind KindOf(char32_t code_point) {
  switch (ClassOf(code_point)) {
    case CharClass::kLetter:
      return Kind::kWord;
    case CharClass::kNumber:
      return Kind::kNumber;
    case CharClass::kSpace:
      return Kind::kSpace;
    case CharClass::kOther:
      break;
  }
  switch (OtherClassOf(code_point)) {
    case OtherClass::kMark:
      return Kind::kWord;
    case OtherClass::kSymbol:
      return Kind::kSymbol;
    case OtherClass::kControl:
      break;
  }
  return Kind::kControl;
}

KindedChar ReadChar(std::string_view text, size_t at) {
  const DecodedChar decoded = DecodeUtf8(text.data() + at);
  return {KindOf(decoded.code_point), IsKanaOrHan(decoded.code_point), at + decoded.length};
}

// A segment that does not contain numbers. Its end is found where a run reaches it, because a
// segment can be much longer than a piece.
class Segment {
 public:
  Segment(std::string_view text, bool is_kana_or_han)
      : text_(text), is_kana_or_han_(is_kana_or_han) {}

  bool Has(Kind kind, size_t at) const {
    if (at >= text_.size()) return false;
    const KindedChar next = ReadChar(text_, at);
    return next.kind == kind && next.is_kana_or_han == is_kana_or_han_;
  }
  bool EndsAt(size_t at) const {
    if (at >= text_.size()) return true;
    const KindedChar next = ReadChar(text_, at);
    return next.kind == Kind::kNumber || next.is_kana_or_han != is_kana_or_han_;
  }
  size_t EndOfKind(Kind kind, size_t at) const {
    while (Has(kind, at)) at = ReadChar(text_, at).end;
    return at;
  }
  // End of the piece of controls at `begin`, which no word follows directly.
  size_t EndOfControls(size_t begin) const {
    size_t last = begin;
    size_t end = begin;
    while (Has(Kind::kControl, end)) {
      last = end;
      end = ReadChar(text_, end).end;
    }
    return Has(Kind::kWord, end) ? last : end;
  }

 private:
  std::string_view text_;
  bool is_kana_or_han_;
};

size_t EndOfAsciiLetters(std::string_view text, size_t at) {
  const auto is_letter = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  };
  while (at < text.size() && is_letter(text[at])) ++at;
  return at;
}

size_t SegmentSpacesEnd(const Segment& segment, std::string_view text, size_t begin) {
  const size_t line_end = EndOfLastLineEnd(text, begin);
  if (line_end > begin) return line_end;
  const size_t end = EndOfRun(text, begin, CharClass::kSpace);
  return segment.EndsAt(end) ? end : EndOfSpaces(text, begin);
}

}  // namespace

size_t DeepseekPieceEnd(std::string_view text, size_t begin) {
  const KindedChar first = ReadChar(text, begin);
  if (first.kind == Kind::kNumber) return EndOfRun(text, begin, CharClass::kNumber, 3);
  const Segment segment(text, first.is_kana_or_han);
  if (first.kind == Kind::kSymbol) {
    if (first.end == begin + 1) {
      const size_t end = EndOfAsciiLetters(text, first.end);
      if (end > first.end) return end;
    }
  } else if (!IsLineEnd(text[begin])) {
    const size_t end = segment.EndOfKind(Kind::kWord, first.end);
    if (end > first.end || first.kind == Kind::kWord) return end;
    if (first.kind == Kind::kControl) return segment.EndOfControls(begin);
  }
  const size_t symbols = text[begin] == ' ' ? first.end : begin;
  const size_t end = segment.EndOfKind(Kind::kSymbol, symbols);
  if (end > symbols) return first.is_kana_or_han ? end : EndOfLineEnds(text, end);
  return SegmentSpacesEnd(segment, text, begin);
}

}  // namespace trainyard::data
