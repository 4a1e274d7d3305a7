#include "cli/output/jobs/health_view.h"

#include "absl/strings/str_cat.h"
#include "cli/output/terminal/readable.h"
#include "proto/json/enum_text.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {

std::string HealthText(const v1::JobHealth& health) {
  return health.word() == v1::HEALTH_WORD_UNSPECIFIED ? kNothing : EnumText(health.word());
}

std::vector<std::string> HealthLines(const v1::JobHealth& health, Timestamp now) {
  std::vector<std::string> lines;
  for (const v1::HealthFinding& finding : health.findings()) {
    std::string line = EnumText(finding.word());
    if (finding.since_ms() > 0) {
      absl::StrAppend(&line, " for ", ShortDuration(now - finding.since_ms()));
    }
    absl::StrAppend(&line, ": ", finding.message());
    if (!finding.node().empty()) absl::StrAppend(&line, " (node ", finding.node(), ")");
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string FindingText(const v1::RunFinding& finding) {
  return absl::StrCat("  advice: ", OneLine(finding.what()), " (", OneLine(finding.why()),
                      ")\n    try: ", OneLine(finding.change()), "\n");
}

}  // namespace trainyard::cli
