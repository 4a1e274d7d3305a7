#include "data/filter/text_measures.h"

#include "data/filter/phrase_measures.h"

namespace trainyard::data {
namespace {

constexpr size_t kLongTextBytes = size_t{16} << 20;

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

size_t Distance(Signal signal, Signal from) {
  return static_cast<size_t>(signal) - static_cast<size_t>(from);
}

}  // namespace

void TextMeasures::Start(std::string_view text, const LineLengths& line_lengths) {
  // Releases the memory that a long text has needed.
  if (text_.size() > kLongTextBytes) *this = TextMeasures();
  text_ = text;
  line_lengths_ = line_lengths;
  has_parts_ = false;
  lines_.reset();
  duplicate_.reset();
  repeated_.reset();
  counts_ = CountText(text);
}

double TextMeasures::Value(Signal signal) {
  if (signal >= Signal::kTop2Gram && signal <= Signal::kDuplicate10Grams) {
    return RepetitionValue(signal);
  }
  switch (signal) {
    case Signal::kBulletLines:
    case Signal::kEllipsisLines:
    case Signal::kPunctuatedLines:
    case Signal::kShortLines:
    case Signal::kLongLines:
      return LineValue(signal);
    case Signal::kDuplicateParagraphs:
    case Signal::kDuplicateParagraphCharacters:
    case Signal::kDuplicateLines:
    case Signal::kDuplicateLineCharacters:
    case Signal::kDuplicateTextLineCharacters:
      return DuplicateValue(signal);
    default:
      return CountValue(signal);
  }
}

double TextMeasures::CountValue(Signal signal) {
  switch (signal) {
    case Signal::kCharacters:
      return static_cast<double>(counts_.characters);
    case Signal::kWords:
      return static_cast<double>(counts_.words);
    case Signal::kMeanWordLength:
      return Ratio(counts_.word_characters, counts_.words);
    case Signal::kLetters:
      return Ratio(counts_.letters, counts_.characters);
    case Signal::kHashSignsPerWord:
      return Ratio(counts_.hash_signs, counts_.words);
    case Signal::kEllipsesPerWord:
      return Ratio(CountEllipses(text_, counts_), counts_.words);
    case Signal::kNewlinesPerWord:
      return Ratio(counts_.newlines, counts_.words);
    case Signal::kWordsWithLetters:
      return Ratio(Words().with_letters, counts_.words);
    case Signal::kStopWords:
      return static_cast<double>(CountStopWords(text_, Words()));
    case Signal::kCurlyBrackets:
      return static_cast<double>(CountPhrase(text_, "{"));
    case Signal::kLoremIpsum:
      return static_cast<double>(CountPhraseAnyCase(text_, "lorem ipsum"));
    case Signal::kSentences:
      return static_cast<double>(CountSentences(text_));
    default:
      return static_cast<double>(CountWithoutPunctuation(text_));
  }
}

double TextMeasures::LineValue(Signal signal) {
  const LineForm& lines = Lines();
  switch (signal) {
    case Signal::kBulletLines:
      return Ratio(lines.bullet_lines, lines.lines);
    case Signal::kEllipsisLines:
      return Ratio(lines.ellipsis_lines, lines.lines);
    case Signal::kPunctuatedLines:
      return Ratio(lines.punctuated_lines, lines.text_lines);
    case Signal::kShortLines:
      return Ratio(lines.short_lines, lines.text_lines);
    default:
      return static_cast<double>(lines.long_lines);
  }
}

double TextMeasures::DuplicateValue(Signal signal) {
  const DuplicateText& duplicate = Duplicate();
  switch (signal) {
    case Signal::kDuplicateParagraphs:
      return Ratio(duplicate.paragraphs.duplicates, duplicate.paragraphs.parts);
    case Signal::kDuplicateParagraphCharacters:
      return Ratio(duplicate.paragraphs.characters, counts_.characters);
    case Signal::kDuplicateLines:
      return Ratio(duplicate.lines.duplicates, duplicate.lines.parts);
    case Signal::kDuplicateLineCharacters:
      return Ratio(duplicate.lines.characters, counts_.characters);
    default:
      return Ratio(duplicate.text_line_characters, counts_.characters - counts_.newlines);
  }
}

double TextMeasures::RepetitionValue(Signal signal) {
  const RepeatedCharacters& repeated = Repeated();
  if (signal <= Signal::kTop4Gram) {
    const size_t n = kShortestTopGram + Distance(signal, Signal::kTop2Gram);
    return Ratio(repeated.top[n], counts_.characters);
  }
  const size_t n = kShortestDuplicateGram + Distance(signal, Signal::kDuplicate5Grams);
  return Ratio(repeated.duplicate[n], counts_.characters);
}

void TextMeasures::FindParts() {
  if (has_parts_) return;
  ScanText(text_, &words_, &newlines_);
  has_parts_ = true;
}

const WordList& TextMeasures::Words() {
  FindParts();
  return words_;
}

const std::vector<uint32_t>& TextMeasures::Newlines() {
  FindParts();
  return newlines_;
}

const LineForm& TextMeasures::Lines() {
  if (!lines_.has_value()) lines_ = MeasureLineForm(text_, Newlines(), line_lengths_);
  return *lines_;
}

const DuplicateText& TextMeasures::Duplicate() {
  if (!duplicate_.has_value()) duplicate_ = MeasureDuplicateText(text_, Newlines(), numbering_);
  return *duplicate_;
}

const RepeatedCharacters& TextMeasures::Repeated() {
  if (!repeated_.has_value()) repeated_ = repetition_.Measure(text_, Words());
  return *repeated_;
}

}  // namespace trainyard::data
