#include "tests/tidy/prose_rules.h"

#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/tidy/comments.h"
#include "tests/tidy/sentences.h"
#include "tests/tidy/unclean_folders.h"
#include "tests/tidy/user_texts.h"

namespace trainyard::tidy {
namespace {

using Documents = std::map<std::string, const SourceFile*>;

Documents DocumentsOf(const SourceTree& tree) {
  Documents documents;
  for (const SourceFile& file : tree) {
    if (HasExtension(file.path, {".md"})) documents[file.path] = &file;
  }
  return documents;
}

// Returns the document to which `name` refers in a file of `folder`, or nullptr.
const SourceFile* FindDocument(const Documents& documents, std::string folder,
                               const std::string& name) {
  while (true) {
    const std::string path = (std::filesystem::path(folder) / name).lexically_normal().string();
    if (const auto found = documents.find(path); found != documents.end()) return found->second;
    if (folder.empty()) return nullptr;
    folder = FolderOf(folder);
  }
}

bool HasSection(const SourceFile& document, const std::string& number) {
  return ("\n" + document.text).find("\n## " + number + ".") != std::string::npos;
}

struct PrivateWord {
  std::regex pattern;
  const char* instead;
};

const std::vector<PrivateWord>& PrivateWords() {
  const auto word = [](const std::string& pattern, const char* instead) {
    return PrivateWord{std::regex("\\b(" + pattern + ")\\b", std::regex::icase), instead};
  };
  static const std::vector<PrivateWord> words{
      word("silent|silence", "no heartbeat since"),
      word("heard|hears?|hearing", "received, last heartbeat"),
      word("deaf", "slow consumer"),
      word("witness(es)?|testimony|testif(y|ies|ied)|speakers?", "peer progress, reporting rank"),
      word("(stands?|standing|stood) still|standstill", "stalled"),
      word("told to leave", "asked to stop"),
      word("last words", "final output"),
      word("given up", "dropped, rejected, abandoned"),
      word("set aside", "quarantined"),
      word("(no|has|have|make|makes|made|more|of|enough|for|is|the) room", "free space, capacity"),
      word("strangers?", "untrusted input"),
      word("verbs?", "command, method, request handler"),
      word("plant(s|ed)? (a )?bugs?|planted", "mutation"),
  };
  return words;
}

const std::vector<UncleanFolder>& FoldersWithFragments() {
  static const std::vector<UncleanFolder> folders{
      {"cli", "comments of options, and two help texts"},
      {"tests/cli", "comments of tests"},
      {"tests/simulation", "comments of tests"},
  };
  return folders;
}

// A kind of sentence beginning that hides the sentence's subject from the reader.
struct Fragment {
  std::regex pattern;
  bool is_question;  // The beginning is allowed if the sentence ends with a question mark.
};

const std::vector<Fragment>& Fragments() {
  static const std::vector<Fragment> fragments{
      {std::regex("(What|Where|Who|Whose|Whom|Whether|How)\\b"), true},
      {std::regex("(Of|Also|Nor)\\b"), false},
      {std::regex("The same(?=[,.:;]|$|"
                  " (after|as|at|but|by|for|from|if|in|of|on|to|when|where|with|without)\\b)"),
       false},
      {std::regex("That(?= (a|an|are|it|of|the|which)\\b)"), false},
      {std::regex("Those(?= (in|of|that|to|which|with|without)\\b)"), false},
  };
  return fragments;
}

// Returns the fragment with which the sentence begins, or "".
std::string FragmentOf(const std::string& sentence) {
  for (const Fragment& fragment : Fragments()) {
    std::smatch match;
    const auto flags = std::regex_constants::match_continuous;
    if (!std::regex_search(sentence, match, fragment.pattern, flags)) continue;
    if (!fragment.is_question || !sentence.ends_with('?')) return match.str();
  }
  return "";
}

std::string At(const SourceFile& file, int line) {
  return file.path + ":" + std::to_string(line) + ": ";
}

void CheckText(const SourceFile& file, int line, const std::string& text, Violations& violations) {
  for (const PrivateWord& word : PrivateWords()) {
    std::smatch match;
    if (!std::regex_search(text, match, word.pattern)) continue;
    violations.push_back(At(file, line) + "says \"" + match.str() + "\"; say " + word.instead);
  }
}

}  // namespace

Violations CheckWords(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    if (file.path.starts_with("tests/tidy/prose_rules")) continue;  // These files list the words.
    for (const CommentLine& comment : CommentsOf(file)) {
      CheckText(file, comment.line, comment.text, violations);
    }
    for (const Literal& text : UserTextsOf(file)) {
      CheckText(file, text.line, text.text, violations);
    }
  }
  return violations;
}

Violations CheckOpenings(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    if (HasExtension(file.path, {".md"})) continue;
    if (IsUnclean(file.path, FoldersWithFragments())) continue;
    std::vector<Sentence> sentences = SentencesOf(CommentsOf(file));
    for (Sentence& sentence : SentencesOf(UserTextsOf(file))) {
      sentences.push_back(std::move(sentence));
    }
    for (const Sentence& sentence : sentences) {
      const std::string fragment = FragmentOf(sentence.text);
      if (fragment.empty()) continue;
      violations.push_back(At(file, sentence.line) + "begins with \"" + fragment +
                           "\"; begin with the thing");
    }
  }
  return violations;
}

Violations CheckCitations(const SourceTree& tree) {
  static const std::regex citation(R"(([\w./*${}-]+\.md)\b(?:\)|`)?(?:,? section (\d+))?)");
  const Documents documents = DocumentsOf(tree);
  Violations violations;
  for (const SourceFile& file : tree) {
    for (const CommentLine& comment : CommentsOf(file)) {
      auto match = std::sregex_iterator(comment.text.begin(), comment.text.end(), citation);
      for (; match != std::sregex_iterator(); ++match) {
        const std::string name = (*match)[1];
        const std::string section = (*match)[2];
        if (name.front() == '/' || name.find_first_of("*${}") != std::string::npos) continue;
        const std::string at = At(file, comment.line);
        const SourceFile* document = FindDocument(documents, FolderOf(file.path), name);
        if (document == nullptr) {
          violations.push_back(at + "names " + name + ", which is not in the repository");
        } else if (!section.empty() && !HasSection(*document, section)) {
          violations.push_back(at + name + " has no section " + section);
        }
      }
    }
  }
  return violations;
}

}  // namespace trainyard::tidy
