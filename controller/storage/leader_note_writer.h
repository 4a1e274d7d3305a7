// Writes the leader's notes for the standbys: the address of its page, and that its log is
// complete.
#ifndef TRAINYARD_CONTROLLER_STORAGE_LEADER_NOTE_WRITER_H_
#define TRAINYARD_CONTROLLER_STORAGE_LEADER_NOTE_WRITER_H_

#include <atomic>
#include <string>

#include "controller/api/context/reader_pool.h"
#include "controller/store/support/leader_notes.h"

namespace trainyard::controller {

class LeaderNoteWriter {
 public:
  // Without `notes`, the functions do nothing. Both arguments must outlive this object.
  LeaderNoteWriter(LeaderNotes* notes, ReaderPool& readers) : notes_(notes), readers_(readers) {}

  // Writes where standbys reach the HTTP server of this controller. After a failure, only this
  // controller serves the page during its term; a warning is logged.
  void ShowPage(const std::string& address) const;
  // Writes once that the log is complete, on a reader thread. Call after each tick while the log is
  // complete: after a failure, the next call tries again.
  void ConfirmLog();

 private:
  LeaderNotes* const notes_;
  ReaderPool& readers_;
  std::atomic<bool> is_confirmed_ = false;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORAGE_LEADER_NOTE_WRITER_H_
