#include "controller/storage/leader_note_writer.h"

#include "spdlog/spdlog.h"

namespace trainyard::controller {

void LeaderNoteWriter::ShowPage(const std::string& address) const {
  if (notes_ == nullptr) return;
  const absl::Status shown = notes_->Write(kPageNote, address);
  if (shown.ok()) return;
  spdlog::warn(
      "cannot store the address of the page for the standbys: {}. Until another controller leads, "
      "the page is only at this controller",
      std::string(shown.message()));
}

void LeaderNoteWriter::ConfirmLog() {
  if (notes_ == nullptr || is_confirmed_.exchange(true)) return;
  const bool posted = readers_.TryPost([this] {
    if (!notes_->Write(kConfirmedNote, "confirmed").ok()) is_confirmed_ = false;
  });
  if (!posted) is_confirmed_ = false;
}

}  // namespace trainyard::controller
