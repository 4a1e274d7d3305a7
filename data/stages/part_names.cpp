#include "data/stages/part_names.h"

#include <algorithm>
#include <utility>

#include "data/stages/hash_text.h"

namespace trainyard::data {
namespace {

constexpr int kLeastDigits = 5;
constexpr std::string_view kUnfinished = "unfinished-";
constexpr size_t kLeaseDigits = 16;

bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

PartNames::PartNames(std::string directory, size_t blocks)
    : directory_(std::move(directory)),
      digits_(std::max(kLeastDigits, static_cast<int>(std::to_string(blocks).size()))) {}

std::string PartNames::Name(const std::string& stream, size_t block,
                            std::string_view ending) const {
  std::string number = std::to_string(block);
  number.insert(0, static_cast<size_t>(digits_) - number.size(), '0');
  return stream + "-" + number + std::string(ending);
}

std::string PartNames::UnfinishedName(const BlockLease& lease, const std::string& name) {
  return std::string(kUnfinished) + HashText(lease.number) + "-" + name;
}

// True for "<letters>-<digits>" and one of the endings.
bool PartNames::IsPart(std::string_view name) {
  for (const std::string_view ending : {kLinesEnding, kBinaryEnding}) {
    if (!name.ends_with(ending)) continue;
    const std::string_view stem = name.substr(0, name.size() - ending.size());
    const size_t dash = std::min(stem.find('-'), stem.size());
    const std::string_view letters = stem.substr(0, dash);
    const std::string_view digits = stem.substr(std::min(dash + 1, stem.size()));
    return !letters.empty() && std::all_of(letters.begin(), letters.end(), IsLetter) &&
           !digits.empty() && std::all_of(digits.begin(), digits.end(), IsDigit);
  }
  return false;
}

bool PartNames::IsUnfinished(std::string_view name) {
  const size_t prefix = kUnfinished.size() + kLeaseDigits + 1;
  return name.starts_with(kUnfinished) && name.size() > prefix && IsPart(name.substr(prefix));
}

}  // namespace trainyard::data
