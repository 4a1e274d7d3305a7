// The quality filter as a stage.
#ifndef TRAINYARD_DATA_PREPARE_CLEANING_FILTER_STAGE_H_
#define TRAINYARD_DATA_PREPARE_CLEANING_FILTER_STAGE_H_

#include <string>

#include "data/filter/filter.h"
#include "data/stages/stage.h"

namespace trainyard::data {

// Kept documents contain the text after the edits of the filter. Dropped ones are unchanged except
// for {"trainyard_dropped": {"rule": ..., "value": ...}} as their first key. `field`: key of the
// text.
Stage MakeFilterStage(const Filter& filter, const std::string& field);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_CLEANING_FILTER_STAGE_H_
