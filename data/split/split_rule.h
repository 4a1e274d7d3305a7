// The rules that divide a text into the pieces that a byte-level BPE encodes independently.
#ifndef TRAINYARD_DATA_SPLIT_SPLIT_RULE_H_
#define TRAINYARD_DATA_SPLIT_SPLIT_RULE_H_

namespace trainyard::data {

// Each rule is an ordered list of alternatives. The first alternative that matches after a piece
// gives the next piece. Classes are those of CharClass.
//
// kGpt2:
//   1. ' and one of s t re ve m ll d
//   2. optional U+0020, letters
//   3. optional U+0020, numbers
//   4. optional U+0020, characters of class kOther
//   5. white space; the last one of a run is excluded if another class follows
//   6. white space
// kLlama3:
//   1. as in kGpt2, in any case. U+017F (long s) is an s
//   2. optionally one character other than CR, LF, a letter and a number; then letters
//   3. one to three numbers
//   4. optional U+0020, characters of class kOther, then any CR and LF
//   5. white space up to its last CR or LF
//   6, 7. as 5 and 6 of kGpt2
// kQwen3: as kLlama3, but each number is a piece of its own.
// kDeepseek3 first divides the text into segments: one to three numbers; characters of
// IsKanaOrHan; all others. Each segment is then divided as if it were the whole text. A word is a
// run of letters and marks, and symbols and controls are those of OtherClass:
//   1. an ASCII symbol, ASCII letters
//   2. optionally one white space other than CR and LF, or one control; then a word
//   3. optional U+0020, symbols, then any CR and LF
//   4. white space up to its last CR or LF
//   5, 6. as in kGpt2
//   7. controls; the last one of a run is excluded if a word follows
//
// Fingerprints of tokenizers contain the numbers of the rules, so that they must never change.
enum class SplitRule { kGpt2, kLlama3, kQwen3, kDeepseek3 };

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_SPLIT_RULE_H_
