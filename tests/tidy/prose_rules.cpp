#include "tests/tidy/prose_rules.h"

#include <filesystem>
#include <map>
#include <regex>
#include <string>

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

}  // namespace

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
        const std::string at = file.path + ":" + std::to_string(comment.line) + ": ";
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
