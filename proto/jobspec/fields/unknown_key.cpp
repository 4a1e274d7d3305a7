#include "proto/jobspec/fields/unknown_key.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/jobspec/fields/schema.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Returns true if the key of a job file is a list or a map.
bool IsList(const std::string& key) {
  const Descriptor* section = v1::JobSpec::descriptor();
  const FieldDescriptor* field = nullptr;
  for (const absl::string_view part : absl::StrSplit(key, '.')) {
    field = section == nullptr ? nullptr : section->FindFieldByName(std::string(part));
    if (field == nullptr) return false;
    section = field->message_type();
  }
  return field != nullptr && field->is_repeated();
}

}  // namespace

std::string UnknownKey(const std::string& key, const std::string& prefix,
                       const Descriptor& section) {
  std::vector<std::string> siblings;
  for (int i = 0; i < section.field_count(); ++i) {
    siblings.push_back(prefix + section.field(i)->name());
  }
  std::string nearest;
  // Suggests a known key if only its section is missing: `seq_length` at the top level means
  // train.seq_length. A key with one value precedes lists.
  const std::string last = "." + key.substr(key.rfind('.') + 1);
  for (const std::string& known : JobFileKeys()) {
    const bool precedes = nearest.empty() || (IsList(nearest) && !IsList(known));
    if (absl::EndsWith(known, last) && precedes) nearest = known;
  }
  if (nearest.empty()) nearest = NearestName(key, siblings);
  if (nearest.empty()) nearest = NearestName(key, JobFileKeys());
  return absl::StrCat("unknown key `", key, "`",
                      nearest.empty() ? "; `trainyard explain` lists the keys"
                                      : absl::StrCat("; did you mean `", nearest, "`?"));
}

}  // namespace trainyard
