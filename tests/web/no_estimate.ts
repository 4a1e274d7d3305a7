// The fields of a pending reason without an estimated start and without further reasons.
export const NO_ESTIMATE = {
  estimated_start_ms: 0,
  estimated_earliest_ms: 0,
  estimated_latest_ms: 0,
  others: [],
};
