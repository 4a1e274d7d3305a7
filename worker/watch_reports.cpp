#include "worker/watch_reports.h"

#include <chrono>

#include "proto/contract/limits.h"
#include "proto/text/utf8.h"
#include "spdlog/spdlog.h"
#include "worker/tail/checkpoint_lines.h"
#include "worker/tail/telemetry_values.h"

namespace trainyard::worker {

bool WatchReports::IsNew(const std::string& text) {
  return reported_.size() < kMostTexts && reported_.insert(text).second;
}

void WatchReports::Report(const std::string& text, WatchLook look) {
  if (!IsNew(text)) return;
  spdlog::warn("{}: {}", name_, text);
  v1::AlertRecord alert;
  alert.set_code(code_);
  alert.set_message(std::string(Utf8Prefix(text, kMaxTelemetryTextBytes)));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const Timestamp now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const bool has_ended = look != WatchLook::kRunning;
  if (!AppendTelemetry(telemetry_, AlertLine(alert, now_ms), has_ended).ok()) reported_.erase(text);
}

}  // namespace trainyard::worker
