#include "tests/tidy/name_rules.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/cpp_text.h"
#include "tests/tidy/unclean_folders.h"

namespace trainyard::tidy {
namespace {

struct NamePart {
  std::vector<std::string> words;  // Consecutive words of a name, in lower case.
  const char* instead;
};

const std::vector<NamePart>& BannedParts() {
  static const std::vector<NamePart> parts{
      {{"told"}, "reported, notified, sent"},
      {{"tell"}, "report, notify, send"},
      {{"tells"}, "reports, notifies, sends"},
      {{"said"}, "reported, text"},
      {{"say"}, "report, print"},
      {{"says"}, "reports, states"},
      {{"speaks"}, "reports"},
      {{"heard"}, "received"},
      {{"insist"}, "require, verify"},
      {{"insists"}, "requires, verifies"},
      {{"hold", "back"}, "defer, suspend"},
      {{"let", "go"}, "release, disconnect"},
      {{"go", "on"}, "continue"},
      {{"goes", "on"}, "continues"},
      {{"come", "back"}, "return, reconnect"},
      {{"comes", "back"}, "returns, reconnects"},
      {{"bring", "back"}, "restore"},
      {{"give", "back"}, "release, return"},
      {{"set", "aside"}, "pause, quarantine, rename"},
      {{"stands", "still"}, "is stalled"},
      {{"rid"}, "remove, clear"},
      {{"wish"}, "request"},
      {{"trouble"}, "problem, error"},
      {{"deaf"}, "slow consumer"},
      {{"silence"}, "time without heartbeat"},
      {{"witness"}, "reporting rank"},
      {{"testimony"}, "reported progress"},
      {{"stranger"}, "untrusted"},
  };
  return parts;
}

const std::vector<UncleanFolder>& FoldersWithBannedParts() {
  static const std::vector<UncleanFolder> folders{
      {"cli/commands", "tell, go_on"},
      {"cli/convert", "Said, as a family of tables"},
      {"cli/output", "WishText, says"},
  };
  return folders;
}

// Returns the words of a name. "SetAsideFormerNode", "set_aside_" and "kSetAside" all begin with
// the words "set" and "aside".
std::vector<std::string> WordsOfName(const std::string& name) {
  std::vector<std::string> words;
  bool begins = true;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const auto byte = static_cast<unsigned char>(name[at]);
    if (std::isalpha(byte) == 0) {
      begins = true;
      continue;
    }
    const bool next_is_small =
        at + 1 < name.size() && std::islower(static_cast<unsigned char>(name[at + 1])) != 0;
    const bool after_small = at > 0 && std::islower(static_cast<unsigned char>(name[at - 1])) != 0;
    if (begins || (std::isupper(byte) != 0 && (next_is_small || after_small))) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(byte));
    begins = false;
  }
  return words;
}

const NamePart* BannedPartOf(const std::string& name) {
  const std::vector<std::string> words = WordsOfName(name);
  for (const NamePart& part : BannedParts()) {
    const auto found =
        std::search(words.begin(), words.end(), part.words.begin(), part.words.end());
    if (found != words.end()) return &part;
  }
  return nullptr;
}

bool IsChecked(const std::string& path) {
  if (IsCode(path))
    return IsBelowAny(path, {"cli", "controller", "data", "proto", "trainer", "worker"});
  return IsBelow(path, "web/src") && HasExtension(path, {".ts", ".tsx"});
}

// Returns the names of all fields in proto files. Stored data and clients depend on these names.
std::set<std::string> FieldsOf(const SourceTree& tree) {
  static const std::regex field(R"((\w+) = \d+)");
  std::set<std::string> fields;
  for (const SourceFile& file : tree) {
    if (!HasExtension(file.path, {".proto"})) continue;
    const auto begin = std::sregex_iterator(file.text.begin(), file.text.end(), field);
    for (auto match = begin; match != std::sregex_iterator(); ++match) fields.insert((*match)[1]);
  }
  return fields;
}

// True for the name of a field, and for the names of functions that protobuf generates for a field.
bool IsField(const std::string& name, const std::set<std::string>& fields) {
  static const std::regex prefix("^(add|clear|has|mutable|set)_");
  return fields.contains(name) || fields.contains(std::regex_replace(name, prefix, ""));
}

}  // namespace

Violations CheckNameParts(const SourceTree& tree) {
  static const std::regex identifier(R"(\b[A-Za-z_]\w*)");
  const std::set<std::string> fields = FieldsOf(tree);
  Violations violations;
  for (const SourceFile& file : tree) {
    if (!IsChecked(file.path) || IsUnclean(file.path, FoldersWithBannedParts())) continue;
    const std::string code = BlankCommentsAndLiterals(file.text);
    std::set<std::string> known;  // Reports each name once per file.
    int line_number = 0;
    for (const std::string_view line : SplitLines(code)) {
      ++line_number;
      std::cregex_iterator match(line.data(), line.data() + line.size(), identifier);
      for (; match != std::cregex_iterator(); ++match) {
        const std::string name = match->str();
        if (!known.insert(name).second || IsField(name, fields)) continue;
        const NamePart* part = BannedPartOf(name);
        if (part == nullptr) continue;
        violations.push_back(file.path + ":" + std::to_string(line_number) + ": the name " + name +
                             "; say " + part->instead);
      }
    }
  }
  return violations;
}

}  // namespace trainyard::tidy
