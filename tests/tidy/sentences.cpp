#include "tests/tidy/sentences.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace trainyard::tidy {
namespace {

// Returns the position after the end of the sentence that begins at `begin`. A sentence ends at a
// full stop, a question mark or an exclamation mark, if a space and a capital letter follow.
std::size_t EndOfSentence(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin; at + 2 < text.size(); ++at) {
    const bool stops = text[at] == '.' || text[at] == '?' || text[at] == '!';
    const bool begins = std::isupper(static_cast<unsigned char>(text[at + 2])) != 0;
    if (stops && text[at + 1] == ' ' && begins) return at + 1;
  }
  return text.size();
}

void AppendSentences(int line, std::string_view text, std::vector<Sentence>& sentences) {
  for (std::size_t begin = text.find_first_not_of(' '); begin < text.size();
       begin = text.find_first_not_of(' ', begin)) {
    const std::size_t end = EndOfSentence(text, begin);
    sentences.push_back({line, std::string(text.substr(begin, end - begin))});
    begin = end;
  }
}

// True if the line starts a new sentence, whatever the preceding line contains.
bool BeginsItem(const CommentLine& comment) {
  return comment.opens || comment.text.empty() || comment.text.starts_with("- ");
}

}  // namespace

std::vector<Sentence> SentencesOf(const std::vector<CommentLine>& comments) {
  std::vector<Sentence> sentences;
  bool is_open = false;  // True if the last sentence may continue.
  for (const CommentLine& comment : comments) {
    if (BeginsItem(comment)) is_open = false;
    std::string_view text = comment.text;
    if (is_open && !text.empty()) {
      Sentence& last = sentences.back();
      const std::size_t size = last.text.size() + 1;
      const std::string joined = last.text + " " + comment.text;
      const std::size_t end = EndOfSentence(joined, 0);
      last.text = joined.substr(0, end);
      text = end <= size ? text : text.substr(std::min(text.size(), end - size));
      if (end >= joined.size()) text = "";
    }
    AppendSentences(comment.line, text, sentences);
    is_open = !comment.text.empty() && !sentences.empty();
  }
  return sentences;
}

std::vector<Sentence> SentencesOf(const std::vector<Literal>& literals) {
  std::vector<Sentence> sentences;
  for (const Literal& literal : literals) {
    for (const std::string_view line : SplitLines(literal.text)) {
      const bool has_words = line.find(' ') != std::string_view::npos;
      if (has_words) AppendSentences(literal.line, line, sentences);
    }
  }
  return sentences;
}

}  // namespace trainyard::tidy
