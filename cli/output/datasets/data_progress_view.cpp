#include "cli/output/datasets/data_progress_view.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/output/terminal/readable.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

// Returns "40/100", or "40" if the total is unknown.
std::string OfTotal(int64_t count, int64_t total, const char* separator) {
  return total > 0 ? absl::StrCat(count, separator, total) : absl::StrCat(count);
}

std::string CountOf(int64_t count, const char* what) {
  return count == 0 ? "" : absl::StrCat(CompactNumber(static_cast<double>(count)), what);
}

// Returns an empty string if no work is left.
std::string PhaseText(const v1::DataProgress& data) {
  return data.phase() == "done" ? "" : data.phase();
}

}  // namespace

std::string ProgressStepText(const v1::Progress& progress) {
  std::vector<std::string> parts;
  if (!PhaseText(progress.data()).empty()) parts.push_back(PhaseText(progress.data()));
  if (progress.step() > 0) parts.push_back(OfTotal(progress.step(), progress.total_steps(), "/"));
  return parts.empty() ? kNothing : absl::StrJoin(parts, " ");
}

std::string ProgressRateText(const v1::Progress& progress) {
  const double bytes = progress.data().bytes_per_second();
  if (bytes > 0) return absl::StrFormat("%.1f MB/s", bytes / 1e6);
  const double tokens = progress.tokens_per_second();
  return tokens > 0 ? CompactNumber(tokens) : kNothing;
}

std::string DataProgressText(const v1::Progress& progress) {
  const v1::DataProgress& data = progress.data();
  std::vector<std::string> parts;
  if (data.stage() > 0) parts.push_back("step " + OfTotal(data.stage(), data.stages(), "/"));
  if (!PhaseText(data).empty()) parts.push_back(PhaseText(data));
  if (data.bytes() > 0) parts.push_back(BytesText(data.bytes()));
  if (data.documents() > 0) parts.push_back(CountOf(data.documents(), " documents"));
  if (data.tokens() > 0) parts.push_back(CountOf(data.tokens(), " tokens"));
  return absl::StrJoin(parts, "  ");
}

std::string DataResultText(const v1::Progress& progress) {
  const v1::DataProgress& data = progress.data();
  if (data.read_documents() == 0) return DataProgressText(progress);
  std::string text = absl::StrCat(CountOf(data.read_documents(), " documents read"), ", ",
                                  CountOf(data.documents() - data.dropped_documents(), " kept"));
  if (data.tokens() > 0) absl::StrAppend(&text, "  ", CountOf(data.tokens(), " tokens"));
  return text;
}

std::string SlowestBlockText(const v1::Progress& progress) {
  if (!progress.data().has_slowest_block()) return "";
  const v1::RunningBlock& block = progress.data().slowest_block();
  return absl::StrCat("block ", block.number(), " for ",
                      ShortDuration(static_cast<int64_t>(block.seconds() * 1000)), " on rank ",
                      block.rank());
}

std::vector<std::pair<std::string, std::string>> DataProgressLines(const v1::Progress& progress) {
  const v1::DataProgress& data = progress.data();
  std::string documents = CountOf(data.documents(), " read");
  if (data.dropped_documents() > 0) {
    absl::StrAppend(&documents, ", ", CountOf(data.dropped_documents(), " dropped"));
  }
  return {{"Step", data.stage() == 0 ? "" : OfTotal(data.stage(), data.stages(), " of ")},
          {"Phase", PhaseText(data)},
          {"Documents", documents},
          {"Input", data.bytes() == 0 ? "" : BytesText(data.bytes())},
          {"Tokens", CountOf(data.tokens(), "")},
          {"Slowest", SlowestBlockText(progress)}};
}

}  // namespace trainyard::cli
