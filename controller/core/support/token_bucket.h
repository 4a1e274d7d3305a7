// A limit on how often something may happen.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_TOKEN_BUCKET_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_TOKEN_BUCKET_H_

#include <algorithm>
#include <cstdint>

#include "proto/support/clock.h"

namespace trainyard::controller {

// Holds at most `at_once` tokens, is full at first, and gets `per_minute` tokens a minute. Time is
// an argument: the same calls give the same answers. A clock that is set back adds no token.
class TokenBucket {
 public:
  // Both limits are above 0; per_minute divides 60,000.
  TokenBucket(int64_t at_once, int64_t per_minute)
      : token_ms_(60'000 / per_minute), full_ms_(at_once * token_ms_), credit_ms_(full_ms_) {}

  // Takes one token; false when there is none.
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

  int64_t token_ms_;  // Time in which one token is earned.
  int64_t full_ms_;
  int64_t credit_ms_;  // Tokens, in the time that they take to earn.
  Timestamp newest_ms_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_TOKEN_BUCKET_H_
