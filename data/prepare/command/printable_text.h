// Texts that are safe for terminals and JSON.
#ifndef TRAINYARD_DATA_PREPARE_COMMAND_PRINTABLE_TEXT_H_
#define TRAINYARD_DATA_PREPARE_COMMAND_PRINTABLE_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainyard::data {

// Escapes control characters, which could change the terminal, as JSON does. Keeps line ends and
// tabs.
std::string WithoutControls(std::string_view text);

// Returns the JSON text. Invalid UTF-8 becomes U+FFFD.
std::string Dumped(const nlohmann::ordered_json& json);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_COMMAND_PRINTABLE_TEXT_H_
