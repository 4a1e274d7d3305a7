#include "cli/output/jobs/code_view.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/output/terminal/readable.h"
#include "proto/code/size_text.h"

namespace trainyard::cli {
namespace {

std::string SizeCell(const code::CodeFile* file) {
  return file == nullptr ? kNothing : code::DecimalSize(file->bytes);
}

const char* ChangeOf(const ChangedFile& file) {
  if (file.before == nullptr) return "added";
  return file.after == nullptr ? "removed" : "changed";
}

}  // namespace

std::string CodeText(const v1::CodeSpec& code) {
  std::vector<std::string> parts;
  const v1::CodeRecord& record = code.record();
  if (code.in_place()) parts.push_back(absl::StrCat("in place in ", code.path()));
  if (record.files() > 0) {
    parts.push_back(absl::StrCat(code::GroupedNumber(record.files()), " files"));
    parts.push_back(code::DecimalSize(record.bytes()));
  }
  if (!record.commit().empty() || record.dirty()) {
    const std::string commit = record.commit().empty()
                                   ? "no commit"
                                   : absl::StrCat("commit ", record.commit().substr(0, 12));
    std::vector<std::string> notes;
    if (!record.branch().empty()) notes.push_back(record.branch());
    if (record.dirty()) notes.push_back("uncommitted changes");
    parts.push_back(notes.empty() ? commit
                                  : absl::StrCat(commit, " (", absl::StrJoin(notes, ", "), ")"));
  }
  if (!code.snapshot().empty()) {
    parts.push_back(absl::StrCat("snapshot ", code.snapshot().substr(0, 12)));
  }
  return absl::StrJoin(parts, ", ");
}

std::vector<ChangedFile> ChangedFiles(const code::Manifest& before, const code::Manifest& after) {
  std::vector<ChangedFile> files;
  auto one = before.files.begin();
  auto other = after.files.begin();
  while (one != before.files.end() || other != after.files.end()) {
    const bool only_before =
        other == after.files.end() || (one != before.files.end() && one->path < other->path);
    const bool only_after =
        one == before.files.end() || (other != after.files.end() && other->path < one->path);
    const code::CodeFile* old_file = only_after ? nullptr : &*one++;
    const code::CodeFile* new_file = only_before ? nullptr : &*other++;
    const bool is_same = old_file != nullptr && new_file != nullptr && *old_file == *new_file;
    if (!is_same) files.push_back({old_file, new_file});
  }
  return files;
}

Listing ChangedFilesListing(const std::vector<ChangedFile>& files) {
  Listing listing;
  listing.columns = {{.title = "CHANGE"},
                     {.title = "BEFORE", .right_aligned = true},
                     {.title = "AFTER", .right_aligned = true},
                     {.title = "FILE", .shrinks = true}};
  for (const ChangedFile& file : files) {
    Row row;
    row.cells = {ChangeOf(file), SizeCell(file.before), SizeCell(file.after), file.path()};
    row.name = file.path();
    row.document = {{"change", ChangeOf(file)}, {"file", file.path()}};
    if (file.before != nullptr) row.document["bytes_before"] = file.before->bytes;
    if (file.after != nullptr) row.document["bytes_after"] = file.after->bytes;
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

}  // namespace trainyard::cli
