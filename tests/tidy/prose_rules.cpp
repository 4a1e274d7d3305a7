#include "tests/tidy/prose_rules.h"

#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/tidy/comments.h"

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

// The document that `name` means in a file of `folder`, or null.
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

std::string At(const SourceFile& file, const CommentLine& comment) {
  return file.path + ":" + std::to_string(comment.line) + ": ";
}

}  // namespace

Violations CheckWords(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    if (file.path.starts_with("tests/tidy/prose_rules")) continue;  // They hold the words.
    for (const CommentLine& comment : CommentsOf(file)) {
      for (const PrivateWord& word : PrivateWords()) {
        std::smatch match;
        if (!std::regex_search(comment.text, match, word.pattern)) continue;
        violations.push_back(At(file, comment) + "says \"" + match.str() + "\"; say " +
                             word.instead);
      }
    }
  }
  return violations;
}

Violations CheckOpenings(const SourceTree& tree) {
  static const std::regex question("^(What|Where|Who|Whose|Whether|How)\\b.*");
  Violations violations;
  for (const SourceFile& file : tree) {
    for (const CommentLine& comment : CommentsOf(file)) {
      if (!comment.opens || !std::regex_match(comment.text, question)) continue;
      violations.push_back(At(file, comment) + "begins with \"" +
                           comment.text.substr(0, comment.text.find(' ')) +
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
        const std::string at = At(file, comment);
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
