// Published lists of rules.
#ifndef TRAINYARD_DATA_FILTER_PRESETS_H_
#define TRAINYARD_DATA_FILTER_PRESETS_H_

#include <string>
#include <string_view>
#include <vector>

#include "data/filter/filter_program.h"

namespace trainyard::data {

// Returns nullptr if there is no such preset.
const std::vector<FilterStep>* FindPreset(std::string_view name);

std::vector<std::string> PresetNames();

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_PRESETS_H_
