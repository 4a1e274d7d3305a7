#include "controller/core/event_log/log_record.h"

#include <algorithm>
#include <iterator>

#include "controller/core/event_log/event_job.h"

namespace trainyard::controller {

LogRecord ToLogRecord(const v1::Event& event) {
  return {event.SerializeAsString(), event.kind_case(), JobIdOf(event), event.time_ms()};
}

std::vector<LogRecord> ToLogRecords(const std::vector<v1::Event>& events) {
  std::vector<LogRecord> records;
  records.reserve(events.size());
  std::ranges::transform(events, std::back_inserter(records), ToLogRecord);
  return records;
}

}  // namespace trainyard::controller
