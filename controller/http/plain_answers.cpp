#include "controller/http/plain_answers.h"

#include <charconv>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/text/printable.h"

namespace trainyard::controller::http {
namespace {

void AppendCell(double value, std::string& csv) {
  char buffer[32];
  csv.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// A text with a comma, quote or line break must be quoted (RFC 4180).
std::string CsvText(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Response SeriesCsv(const v1::GetSeriesResponse& response) {
  std::string csv =
      "key,attempt,redone,step,x,time_ms,last,min,max,count,nan_count,smoothed,mean\r\n";
  for (const v1::Series& series : response.series()) {
    const std::string key = CsvText(PrintableLine(series.key(), false));
    for (int i = 0; i < series.steps_size(); ++i) {
      absl::StrAppend(&csv, key, ",", series.attempts(i), ",", series.redone() ? "true" : "false",
                      ",", series.steps(i), ",", series.x(i), ",", series.times_ms(i), ",");
      AppendCell(series.last(i), csv);
      csv += ',';
      AppendCell(series.min(i), csv);
      csv += ',';
      AppendCell(series.max(i), csv);
      absl::StrAppend(&csv, ",", series.counts(i), ",", series.nan_counts(i), ",");
      if (i < series.smoothed_size()) AppendCell(series.smoothed(i), csv);
      csv += ',';
      AppendCell(series.mean(i), csv);
      csv += "\r\n";
    }
  }
  return {.content_type = "text/csv; charset=utf-8", .body = std::move(csv)};
}

Response LogLines(const v1::ReadLogPageResponse& page, bool raw) {
  std::string text;
  for (const v1::LogLine& line : page.lines()) {
    absl::StrAppend(&text, raw ? line.text() : PrintableLine(line.text(), false), "\n");
  }
  Response response{.content_type = raw ? "application/octet-stream" : "text/plain; charset=utf-8",
                    .body = std::move(text)};
  if (raw) {
    response.headers.emplace_back("Content-Disposition", "attachment; filename=\"output.log\"");
  }
  response.headers.emplace_back("X-Older-Cursor", page.older_cursor());
  response.headers.emplace_back("X-Newer-Cursor", page.newer_cursor());
  return response;
}

}  // namespace trainyard::controller::http
