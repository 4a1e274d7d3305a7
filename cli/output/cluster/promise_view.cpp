#include "cli/output/cluster/promise_view.h"

#include "absl/strings/str_cat.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {
namespace {

std::string PromisedText(Timestamp promised, Timestamp now) {
  if (promised == 0) return "no time known";
  return promised > now ? absl::StrCat("slots in ", AgeText(now, promised))
                        : absl::StrCat("slots ", AgoText(promised, now));
}

}  // namespace

std::vector<std::string> PromiseLines(const v1::PendingReason& reason, Timestamp now) {
  std::vector<std::string> lines;
  for (const v1::PromiseChange& change : reason.promises()) {
    lines.push_back(absl::StrCat(AgoText(change.time_ms(), now), ": ",
                                 PromisedText(change.promised_ms(), now), "; ", change.reason()));
  }
  return lines;
}

}  // namespace trainyard::cli
