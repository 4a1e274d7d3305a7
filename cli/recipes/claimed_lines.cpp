#include "cli/recipes/claimed_lines.h"

#include <functional>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "controller/planner/cluster.h"
#include "proto/jobspec/fields/schema.h"

namespace trainyard::cli {
namespace {

using planner::Amount;
using planner::Claims;
using planner::PowerLaw;
using planner::Range;
using planner::ReadAmount;

constexpr char kClaimPrefix[] = "# Claimed ";

// Reads a value into the claims. Returns "" on success, else a description of the form that the
// value must have.
using Reader = std::function<std::string(const std::string& value, Claims& claims)>;

Reader AmountOf(std::optional<Amount> Claims::*claim) {
  return [claim](const std::string& value, Claims& claims) -> std::string {
    claims.*claim = ReadAmount(value);
    return (claims.*claim).has_value() ? "" : "a number such as 300, 56B or 1.36e21";
  };
}

Reader NumberOf(std::optional<double> Claims::*claim) {
  return [claim](const std::string& value, Claims& claims) -> std::string {
    const std::optional<Amount> amount = ReadAmount(value);
    if (amount.has_value()) claims.*claim = amount->value;
    return amount.has_value() ? "" : "a number such as 16";
  };
}

// Reads two numbers with `separator` between them.
std::optional<Range> ReadPair(const std::string& value, const std::string& separator) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(value, absl::MaxSplits(separator, 1));
  const std::optional<Amount> first = ReadAmount(parts.first), second = ReadAmount(parts.second);
  if (!first.has_value() || !second.has_value()) return std::nullopt;
  return Range{first->value, second->value};
}

Reader RangeOf(std::optional<Range> Claims::*claim) {
  return [claim](const std::string& value, Claims& claims) -> std::string {
    const bool is_one = !absl::StrContains(value, " to ");
    const std::optional<Range> range = ReadPair(is_one ? value + " to " + value : value, " to ");
    if (!range.has_value() || range->low > range->high) return "a range such as 0.35 to 0.4";
    claims.*claim = range;
    return "";
  };
}

Reader LawOf(std::optional<PowerLaw> Claims::*claim) {
  return [claim](const std::string& value, Claims& claims) -> std::string {
    const std::optional<Range> numbers = ReadPair(value, " C^");
    if (!numbers.has_value()) return "a power of the budget such as 0.12 C^0.5";
    claims.*claim = PowerLaw{numbers->low, numbers->high};
    return "";
  };
}

std::string ReadDevice(const std::string& value, Claims& claims) {
  const planner::DeviceSpec* device = planner::FindDeviceSpec(value);
  if (device == nullptr) return "a device that `trainyard plan --device` knows";
  claims.peak_flops = device->rating->bf16_flops;
  return "";
}

std::string ReadStages(const std::string& value, Claims& claims) {
  claims.even_stages = value == "even";
  return claims.even_stages ? "" : "even";
}

const std::map<std::string, Reader>& Readers() {
  static const std::map<std::string, Reader> readers = {
      {"parameters", AmountOf(&Claims::parameters)},
      {"active-parameters", AmountOf(&Claims::active_parameters)},
      {"tokens", AmountOf(&Claims::tokens)},
      {"warmup-tokens", AmountOf(&Claims::warmup_tokens)},
      {"flops", AmountOf(&Claims::flops)},
      {"loss", AmountOf(&Claims::loss)},
      {"data-parallel-size", NumberOf(&Claims::data_parallel)},
      {"tokens-per-parameter", NumberOf(&Claims::tokens_per_parameter)},
      {"tokens-per-second", RangeOf(&Claims::tokens_per_second)},
      {"mfu", RangeOf(&Claims::mfu)},
      {"hours", RangeOf(&Claims::hours)},
      {"optimal-parameters", LawOf(&Claims::optimal_parameters)},
      {"optimal-tokens", LawOf(&Claims::optimal_tokens)},
      {"device", ReadDevice},
      {"stages", ReadStages}};
  return readers;
}

// Returns "" on success, else the error.
std::string ReadLine(const std::string& text, Claims& claims) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const auto found = Readers().find(parts.first);
  if (found == Readers().end()) {
    std::vector<std::string> known;
    for (const auto& [name, reader] : Readers()) known.push_back(name);
    const std::string nearest = NearestName(parts.first, known);
    return absl::StrCat("unknown claim `", parts.first, "`",
                        nearest.empty() ? "" : absl::StrCat("; did you mean `", nearest, "`?"));
  }
  const std::string form =
      found->second(std::string(absl::StripAsciiWhitespace(parts.second)), claims);
  return form.empty() ? "" : absl::StrCat("claimed `", parts.first, "` must be ", form);
}

}  // namespace

ClaimedLines FindClaimedLines(const JobFileText& file) {
  ClaimedLines found;
  int64_t number = 0;
  for (const absl::string_view line : absl::StrSplit(file.text, '\n')) {
    ++number;
    absl::string_view claim = line;
    if (!absl::ConsumePrefix(&claim, kClaimPrefix)) continue;
    ++found.count;
    const std::string error = ReadLine(std::string(claim), found.claims);
    if (error.empty()) continue;
    found.errors.push_back(absl::StrCat(file.display_name, ":", number, ": ", error));
  }
  return found;
}

}  // namespace trainyard::cli
