// The signals of one text. Groups of signals are measured when first needed.
#ifndef TRAINYARD_DATA_FILTER_TEXT_MEASURES_H_
#define TRAINYARD_DATA_FILTER_TEXT_MEASURES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/filter/hash_numbering.h"
#include "data/filter/line_measures.h"
#include "data/filter/signal.h"
#include "data/filter/text_scan.h"
#include "data/filter/word_repetition.h"

namespace trainyard::data {

class TextMeasures {
 public:
  // The text must be valid UTF-8, shorter than 4 GiB, and outlive the calls of Value.
  void Start(std::string_view text, const LineLengths& line_lengths);

  // Ratios are 0 if their denominator is 0.
  double Value(Signal signal);

 private:
  double CountValue(Signal signal);
  double LineValue(Signal signal);
  double DuplicateValue(Signal signal);
  double RepetitionValue(Signal signal);

  void FindParts();
  const WordList& Words();
  const std::vector<uint32_t>& Newlines();
  const LineForm& Lines();
  const DuplicateText& Duplicate();
  const RepeatedCharacters& Repeated();

  std::string_view text_;
  LineLengths line_lengths_;
  TextCounts counts_;
  bool has_parts_ = false;  // `words_` and `newlines_` are those of the text
  WordList words_;
  std::vector<uint32_t> newlines_;
  HashNumbering numbering_;
  WordRepetition repetition_;
  std::optional<LineForm> lines_;
  std::optional<DuplicateText> duplicate_;
  std::optional<RepeatedCharacters> repeated_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_TEXT_MEASURES_H_
