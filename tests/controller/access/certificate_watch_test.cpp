#include "controller/access/certificate_watch.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

constexpr int64_t kDayMs = 86'400'000;

// Created with openssl req -x509 -days 36500.
constexpr char kCertificate[] = R"(
-----BEGIN CERTIFICATE-----
MIIBdjCCARugAwIBAgIUQEOfKxrJYoqkN6cleuhDuUB3ZekwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjQwNjU2NTJaGA8yMTI2MTAzMTA2NTY1
MlowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAS6
b02OQWpu8SxW1NFvfQi3TxxlMNh9WXRNP03MDH1qrRiwSgIeG+2dTyEdfHB/Jr4k
L+BCYaTeMH5fryvEoYmjUzBRMB0GA1UdDgQWBBTk42pa7sMlWABNTF5AVYAnDCA+
WTAfBgNVHSMEGDAWgBTk42pa7sMlWABNTF5AVYAnDCA+WTAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0kAMEYCIQCPmdFi5bms+PwThAFpX8TgOAFyByo/M7VZ
BjcKOe+dGQIhAIR2S1g3wXtGJ+R/oNXtIZoA6E1idA0Hyp+4eZwuOC4W
-----END CERTIFICATE-----
)";
constexpr Timestamp kExpires = 4'949'103'412'000;

class FixedClock final : public Clock {
 public:
  explicit FixedClock(Timestamp now) : now_(now) {}
  Timestamp Now() const override { return now_; }

 private:
  const Timestamp now_;
};

TEST(CertificateWatchTest, ReadsTheEndOfACertificate) {
  EXPECT_EQ(ExpiryOf(kCertificate), kExpires);
  EXPECT_EQ(ExpiryOf(std::string(kCertificate) + kCertificate), kExpires);
  EXPECT_EQ(ExpiryOf(""), std::nullopt);
  EXPECT_EQ(ExpiryOf("-----BEGIN CERTIFICATE-----\nnothing\n"), std::nullopt);
}

TEST(CertificateWatchTest, WarnsFourteenDaysBefore) {
  EXPECT_EQ(ExpiryWarning(kExpires, kExpires - 14 * kDayMs - 1), "");
  EXPECT_THAT(ExpiryWarning(kExpires, kExpires - 14 * kDayMs), HasSubstr("expires in 14 d 0 h"));
  EXPECT_THAT(ExpiryWarning(kExpires, kExpires - kDayMs / 2), HasSubstr("expires in 0 d 12 h"));
  EXPECT_THAT(ExpiryWarning(kExpires, kExpires), HasSubstr("has expired"));
}

TEST(CertificateWatchTest, LooksAtTheTimeWhenItIsAsked) {
  const FixedClock early(0);
  const FixedClock late(kExpires);
  EXPECT_EQ(CertificateWatch(kCertificate, early).Warning(), "");
  CertificateWatch watch(kCertificate, late);
  watch.Start();
  EXPECT_THAT(watch.Warning(), HasSubstr("has expired"));
  EXPECT_EQ(CertificateWatch("", late).Warning(), "");
}

}  // namespace
}  // namespace trainyard::controller
