#include "cli/output/jobs/environment_view.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {
namespace {

int PackageCount(const v1::EnvironmentRecord& record) {
  return record.packages_size() + record.packages_omitted();
}

void AddText(const char* label, const std::string& value, std::string& text) {
  if (!value.empty()) absl::StrAppend(&text, LabelLine(label, OneLine(value)));
}

}  // namespace

std::string EnvironmentSummary(const v1::EnvironmentRecord& record) {
  std::vector<std::string> parts;
  if (!record.interpreter_version().empty()) {
    parts.push_back(absl::StrCat("Python ", record.interpreter_version()));
    parts.push_back(absl::StrCat(PackageCount(record), " packages"));
  }
  if (!record.cuda().empty()) parts.push_back(absl::StrCat("CUDA ", record.cuda()));
  if (!record.nccl().empty()) parts.push_back(absl::StrCat("NCCL ", record.nccl()));
  if (!record.driver().empty()) parts.push_back(absl::StrCat("driver ", record.driver()));
  if (!record.image().empty()) parts.push_back(absl::StrCat("image ", record.image()));
  if (!record.problem().empty()) parts.push_back(record.problem());
  return OneLine(absl::StrJoin(parts, ", "));
}

std::string EnvironmentText(const v1::EnvironmentRecord& record) {
  if (record.attempt() == 0) return "";
  std::string text = absl::StrCat("\nEnvironment of attempt ", record.attempt(), "\n");
  AddText("Interpreter", record.interpreter(), text);
  AddText("Python", record.interpreter_version(), text);
  AddText("Driver", record.driver(), text);
  AddText("CUDA", record.cuda(), text);
  AddText("NCCL", record.nccl(), text);
  AddText("Image", record.image(), text);
  AddText("Digest", record.image_digest(), text);
  AddText("Problem", record.problem(), text);
  std::string packages = absl::StrJoin(record.packages(), " ");
  if (record.packages_omitted() > 0) {
    absl::StrAppend(&packages, " and ", record.packages_omitted(), " more");
  }
  AddText("Packages", packages, text);
  return text;
}

}  // namespace trainyard::cli
