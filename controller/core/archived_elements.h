// Bounds the archive record of an array.
#ifndef TRAINYARD_CONTROLLER_CORE_ARCHIVED_ELEMENTS_H_
#define TRAINYARD_CONTROLLER_CORE_ARCHIVED_ELEMENTS_H_

#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// The maximum number of elements in an archive record, and of decisions of a halving. The record
// then has at most about 6 MB. The loop commits it within one tick.
inline constexpr int kMaxArchivedElements = 100'000;

// Keeps the `max` elements with the lowest losses, and the newest `max` decisions. Compares the
// validation losses, or the training losses of elements without a validation loss. Elements without
// a finite loss rank last, by index. The order of the kept elements does not change.
void KeepBestElements(int max, v1::JobSnapshot& details);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_ARCHIVED_ELEMENTS_H_
