// The phases of a job in order of time.
#ifndef TRAINYARD_CONTROLLER_CORE_LEDGER_TIMELINE_H_
#define TRAINYARD_CONTROLLER_CORE_LEDGER_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "proto/support/clock.h"
#include "trainyard/v1/ledger.pb.h"

namespace trainyard::controller {

// Returns false for phases in which the job waits without slots.
bool HoldsSlots(v1::LedgerPhase phase);

// Consecutive phases. Each phase begins at the end of the previous one.
class Timeline {
 public:
  struct Standbys {
    Timestamp begin = 0;
    Timestamp end = 0;
    int64_t slots = 0;
  };

  struct Range {
    Timestamp begin = 0;
    Timestamp end = 0;
  };

  explicit Timeline(Timestamp begin) : at_(begin) {}

  // `slots` is the number of slots that the job has during the phase. `slots` is ignored for phases
  // without slots.
  void AddUntil(v1::LedgerPhase phase, int64_t attempt_number, int slots, Timestamp end);

  // Adds the slot time of standbys, which wait while the gang runs through its phases.
  void AddStandbys(int64_t slots, Timestamp begin, Timestamp end);

  // Marks the phases since `begin` as mixed: their lengths are known, but not their positions.
  void MixSince(Timestamp begin) { mixed_.push_back({begin, at_}); }

  // Returns the time range that contains the span's phase: if the span is part of a mixed range,
  // that whole range; else the span itself.
  Range RangeOf(const v1::LedgerSpan& span) const;

  Timestamp at() const { return at_; }
  std::vector<v1::LedgerSpan>& spans() { return spans_; }
  const std::vector<Standbys>& standbys() const { return standbys_; }

 private:
  Timestamp at_;
  std::vector<v1::LedgerSpan> spans_;
  std::vector<Standbys> standbys_;
  // In order of time.
  std::vector<Range> mixed_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_LEDGER_TIMELINE_H_
