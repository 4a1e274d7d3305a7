// Positions at which text can be cut without changing its tokens.
#ifndef TRAINYARD_DATA_TOKENIZER_SAFE_CUTS_H_
#define TRAINYARD_DATA_TOKENIZER_SAFE_CUTS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/split/split_rule.h"
#include "data/tokenizer/bpe_definition.h"
#include "data/tokenizer/character_cutter.h"

namespace trainyard::data {

// A cut is beside a line end, where the split rule always begins a piece:
//   GPT-2: between a character that is not white space and LF or CR LF.
//   LLaMA-3, Qwen3: between a letter or number and LF or CR LF, and between LF and a character that
//       is not white space. Other characters, such as ".", are in one piece with the LF after them.
//   LLaMA-2: between LF and another character, if no token has both.
// White space is never on both sides of a cut, and no added token contains or touches it.
class SafeCuts {
 public:
  explicit SafeCuts(const BpeDefinition& definition);

  // As Tokenizer::SafeCut.
  size_t Find(std::string_view text, size_t begin, size_t end) const;

 private:
  bool IsSafe(std::string_view text, size_t at) const;
  bool IsPieceBegin(char32_t before, char32_t after) const;
  bool TouchesAddedToken(std::string_view text, size_t at) const;

  std::optional<SplitRule> rule_;            // of a ByteBpe
  std::unique_ptr<CharacterCutter> cutter_;  // of a CharacterBpe
  std::vector<std::string> added_tokens_;
  bool finds_cuts_ =
      true;  // false: there are added tokens for which the rules above do not suffice
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_SAFE_CUTS_H_
