#include "proto/jobspec/fields/yaml_document.h"

#include <optional>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/text/utf8.h"
#include "yaml-cpp/eventhandler.h"

namespace trainyard {
namespace {

std::string YamlProblem(const JobFileText& file, const YAML::ParserException& error) {
  const std::vector<std::string> lines = absl::StrSplit(file.text, '\n');
  const std::size_t line = error.mark.line;
  if (error.mark.line >= 0 && line < lines.size() && absl::StartsWith(lines[line], "\t")) {
    return "a tab cannot indent YAML; use spaces";
  }
  return absl::StrCat("not valid YAML: ", error.msg);
}

class IgnoreEvents : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

}  // namespace

// Do not use YAML::LoadAll: in yaml-cpp 0.7, LoadAll finds empty documents endlessly if the text
// begins with a comma.
bool HoldsSeveralDocuments(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  IgnoreEvents ignore;
  return parser.HandleNextDocument(ignore) && parser.HandleNextDocument(ignore);
}

std::string Place(const std::string& display_name, const YAML::Mark& mark) {
  if (mark.is_null()) return display_name;
  return absl::StrCat(display_name, ":", mark.line + 1, ":", mark.column + 1);
}

absl::StatusOr<YAML::Node> ParseYaml(const JobFileText& file) {
  const auto refuse = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(file.display_name, ": ", what));
  };
  if (file.text.size() > kMaxJobFileBytes) {
    return refuse(absl::StrCat("is ", file.text.size(), " bytes; a job file has at most 1 MiB"));
  }
  if (const auto bad = FirstInvalidUtf8(file.text); bad.has_value()) {
    return refuse(absl::StrCat("is not UTF-8 text (byte ", *bad, ")"));
  }
  if (absl::StrContains(file.text, '\0'))
    return refuse("contains a NUL byte; a job file must be a text file");
  // Catches the exceptions by which yaml-cpp reports errors.
  try {
    if (HoldsSeveralDocuments(file.text)) {
      return refuse(
          "contains several YAML documents, or begins with a comma; a job file is one document");
    }
    const YAML::Node document = YAML::Load(file.text);
    if (document.IsNull()) return refuse("is empty");
    if (!document.IsMap()) return refuse("must be a mapping of keys to values");
    return document;
  } catch (const YAML::ParserException& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(Place(file.display_name, error.mark), ": ", YamlProblem(file, error)));
  } catch (const YAML::Exception& error) {
    return refuse(absl::StrCat("not valid YAML: ", error.what()));
  }
}

}  // namespace trainyard
