#include "proto/jobspec/fields/field_path.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_split.h"
#include "proto/jobspec/fields/scalar_text.h"

namespace trainyard {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const FieldDescriptor* FindField(const std::string& key, Message& root, Message*& holder) {
  holder = &root;
  const std::vector<std::string> parts = absl::StrSplit(key, '.');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const FieldDescriptor* field = holder->GetDescriptor()->FindFieldByName(parts[i]);
    if (field == nullptr || i + 1 == parts.size()) return field;
    if (field->is_repeated() || field->message_type() == nullptr || IsDuration(*field)) {
      return nullptr;
    }
    holder = holder->GetReflection()->MutableMessage(holder, field);
  }
  return nullptr;
}

}  // namespace trainyard
