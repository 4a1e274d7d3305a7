#include "data/tokens/source_format.h"

namespace trainyard::data {

std::string SourcePlaceText(const SourcePlace& place) {
  if (place.is_line) return place.file + ":" + std::to_string(place.position + 1);
  if (place.position == 0) return place.file;
  return place.file + ", byte " + std::to_string(place.position);
}

std::string SourceFileName(const std::string& split) { return split + ".sources"; }

}  // namespace trainyard::data
