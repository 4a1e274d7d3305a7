#include "proto/jobspec/rules/code_rules.h"

#include "absl/strings/str_cat.h"
#include "proto/support/job_kind.h"

namespace trainyard {

void CheckCode(const v1::JobSpec& spec, std::vector<SettingProblem>& problems) {
  if (!spec.has_code()) return;
  const v1::CodeSpec& code = spec.code();
  if (ProgramOf(spec) != JobProgram::kCommand) {
    problems.push_back(
        {"code", absl::StrCat("`code` is the source of a `command`, but this job ",
                              ProgramRulesOf(spec).text, "; remove `code`, or add `command`")});
    return;
  }
  if (code.path().empty() && code.snapshot().empty()) {
    problems.push_back(
        {"code.path", "`code.path` is missing; name the directory of the source: `path: .`"});
  }
  if (!code.in_place()) return;
  if (!code.snapshot().empty()) {
    problems.push_back({"code.in_place",
                        "`code.in_place` runs the files in `path`, but `code.snapshot` names a "
                        "copy; remove one of them"});
  }
  const bool copies = code.ignore_size() > 0 || code.has_max_size() || code.has_max_files();
  if (copies) {
    problems.push_back({"code.in_place",
                        "`code.in_place` copies nothing, so `ignore`, `max_size` and `max_files` "
                        "have no effect; remove them, or remove `in_place`"});
  }
}

bool NeedsSnapshot(const v1::JobSpec& spec) {
  return spec.has_code() && !spec.code().in_place() && spec.code().snapshot().empty();
}

std::string MissingSnapshot(const v1::JobSpec& spec) {
  if (!NeedsSnapshot(spec)) return "";
  return absl::StrCat("`code.path` ", spec.code().path(),
                      " is read by `trainyard submit`, which copies it to the controller; submit "
                      "this job with the command line, set `code.snapshot` to the id of an earlier "
                      "copy, or set `code.in_place` if every node has this directory");
}

}  // namespace trainyard
