// Rate limit.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_TOKEN_BUCKET_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_TOKEN_BUCKET_H_

#include <algorithm>
#include <cstdint>

#include "proto/support/clock.h"

namespace trainyard::controller {

// A bucket of at most `at_once` tokens. The bucket starts full and gains `per_minute` tokens per
// minute. The time is an argument, so equal calls return equal results. If the time is earlier than
// in the previous call, no token is added.
class TokenBucket {
 public:
  // Both limits must be above 0, and per_minute must divide 60,000.
  TokenBucket(int64_t at_once, int64_t per_minute)
      : token_ms_(60'000 / per_minute), full_ms_(at_once * token_ms_), credit_ms_(full_ms_) {}

  // Takes one token. Returns false if the bucket is empty.
  bool Take(Timestamp now) {
    Refill(now);
    if (credit_ms_ < token_ms_) return false;
    credit_ms_ -= token_ms_;
    return true;
  }

  bool IsFull(Timestamp now) {
    Refill(now);
    return credit_ms_ == full_ms_;
  }

 private:
  void Refill(Timestamp now) {
    const int64_t passed = std::clamp<int64_t>(now - newest_ms_, 0, full_ms_);
    newest_ms_ = now;
    credit_ms_ = std::min(credit_ms_ + passed, full_ms_);
  }

  int64_t token_ms_;  // Milliseconds to gain one token.
  int64_t full_ms_;
  int64_t credit_ms_;  // The available tokens, as the milliseconds to gain them.
  Timestamp newest_ms_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_TOKEN_BUCKET_H_
