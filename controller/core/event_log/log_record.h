// An event in the form stored in the event log.
#ifndef TRAINYARD_CONTROLLER_CORE_EVENT_LOG_LOG_RECORD_H_
#define TRAINYARD_CONTROLLER_CORE_EVENT_LOG_LOG_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

struct LogRecord {
  std::string payload;  // The event, serialized.
  v1::Event::KindCase kind = v1::Event::KIND_NOT_SET;
  int64_t job_id = 0;  // The result of JobIdOf.
  int64_t time_ms = 0;
};

LogRecord ToLogRecord(const v1::Event& event);
std::vector<LogRecord> ToLogRecords(const std::vector<v1::Event>& events);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EVENT_LOG_LOG_RECORD_H_
