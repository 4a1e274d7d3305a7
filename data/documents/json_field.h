// Replaces the text of a JSON line.
#ifndef TRAINYARD_DATA_DOCUMENTS_JSON_FIELD_H_
#define TRAINYARD_DATA_DOCUMENTS_JSON_FIELD_H_

#include <optional>
#include <string>
#include <string_view>

namespace trainyard::data {

// Returns `json` with the string in `field` replaced by `text`, which must be UTF-8. All other
// bytes are copied, so that large numbers and the order of keys are kept. `json` must be a line
// that JsonLineParser accepts for `field`; otherwise may return nullopt.
std::optional<std::string> WithText(std::string_view json, std::string_view field,
                                    std::string_view text);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DOCUMENTS_JSON_FIELD_H_
