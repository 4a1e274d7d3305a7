#include "controller/planner/pass_parts.h"

namespace trainyard::planner {

PassParts& PassParts::operator+=(const PassParts& other) {
  compute += other.compute;
  tensor += other.tensor;
  context += other.context;
  expert += other.expert;
  return *this;
}

PassParts operator*(double factor, PassParts parts) {
  return {factor * parts.compute, factor * parts.tensor, factor * parts.context,
          factor * parts.expert};
}

PassParts operator+(PassParts left, const PassParts& right) { return left += right; }

}  // namespace trainyard::planner
