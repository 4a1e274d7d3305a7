#include "proto/contract/xid.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard {
namespace {

TEST(XidTest, LinesOfTheKernelsLogAreRead) {
  const auto line = ParseXidLine(
      "4,1234,56789,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off the "
      "bus.");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->number, 79);
  EXPECT_EQ(line->device, "0000:3b:00");
  EXPECT_EQ(ParseXidLine("NVRM: Xid (0000:03:00): 14, Channel 00000001")->device, "0000:03:00");
}

TEST(XidTest, OtherLinesAreNone) {
  for (const char* line :
       {"", "NVRM: Xid (", "NVRM: Xid (PCI:0000:3b:00)", "NVRM: Xid (PCI:0000:3b:00): x",
        "NVRM: Xid (PCI:0000:3b:00): -3", "NVRM: Xid (PCI:0000:3b:00): 99999999999999999999",
        "NVRM: loading", "step 79"}) {
    EXPECT_FALSE(ParseXidLine(line).has_value()) << line;
  }
  EXPECT_FALSE(ParseXidLine("NVRM: Xid (" + std::string(1000, 'x') + "): 79").has_value());
}

TEST(XidTest, ErrorsOfDevicesAreToldFromThoseOfPrograms) {
  EXPECT_EQ(FindXid(31)->blame, XidBlame::kProgram);
  EXPECT_EQ(FindXid(94)->blame, XidBlame::kDevice);
  EXPECT_EQ(FindXid(79)->blame, XidBlame::kFatal);
  EXPECT_FALSE(FindXid(9999).has_value());
}

TEST(XidTest, OutputOfAProgramNamesADeviceError) {
  EXPECT_EQ(DeviceErrorIn("step 4\nCUDA error: uncorrectable ECC error encountered\n")->number, 48);
  EXPECT_EQ(DeviceErrorIn("NVRM: Xid (PCI:0000:3b:00): 31, fault\n"
                          "NVRM: Xid (PCI:0000:3b:00): 95, Uncontained")
                ->number,
            95)
      << "the first one that is no fault of a program";
  EXPECT_FALSE(DeviceErrorIn("CUDA error: an illegal memory access was encountered").has_value());
  EXPECT_FALSE(DeviceErrorIn("").has_value());
  EXPECT_FALSE(DeviceErrorIn("\n\n\n").has_value());
}

}  // namespace
}  // namespace trainyard
