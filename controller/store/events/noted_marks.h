// Marks of the other stores (store_mark.h) between their arrival and the append that stores them.
#ifndef TRAINYARD_CONTROLLER_STORE_EVENTS_NOTED_MARKS_H_
#define TRAINYARD_CONTROLLER_STORE_EVENTS_NOTED_MARKS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "controller/store/support/store_mark.h"

namespace trainyard::controller {

// Any thread may call Note. Only the thread that appends may call the other functions.
class NotedMarks {
 public:
  void Note(const std::string& store, const StoreMark& mark);

  // Returns the marks that an append at this event time must store. Marks are due at most once per
  // second.
  std::map<std::string, StoreMark> Due(int64_t time_ms) const;
  // Call after these marks were stored.
  void Stored(int64_t time_ms) { stored_ms_ = time_ms; }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, StoreMark> marks_;  // Guarded by mutex_.
  // The event time at which marks were last stored.
  std::optional<int64_t> stored_ms_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_EVENTS_NOTED_MARKS_H_
