#include "cli/output/jobs/note_views.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {
namespace {

// Returns the writer's name without the prefix "user ".
std::string WriterOf(const v1::Note& note) {
  return TextOrNothing(std::string(absl::StripPrefix(note.actor(), "user ")));
}

}  // namespace

Listing NoteListing(const v1::Job& job, Timestamp now) {
  std::vector<v1::Note> notes(job.notes().begin(), job.notes().end());
  std::ranges::stable_sort(notes, {}, &v1::Note::step);
  Listing listing;
  listing.columns = {
      {"NOTE", true}, {"STEP", true}, {"AGE", true}, {"USER"}, {"TEXT", false, false, true}};
  for (const v1::Note& note : notes) {
    Row row;
    row.cells = {absl::StrCat(note.id()), absl::StrCat(note.step()), AgeText(note.time_ms(), now),
                 WriterOf(note), OneLine(note.text())};
    row.exact_cells = row.cells;
    row.exact_cells[2] = absl::StrCat((now - note.time_ms()) / 1000);
    row.name = absl::StrCat(note.id());
    row.document = StableJson(note);
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

}  // namespace trainyard::cli
