#include "worker/device/inventory.h"

#include <cstdlib>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kNoLibrary[] = "libno-such-nvml.so.1";

DetectedInventory Detect(std::optional<int> cpu_slots, const char* library,
                         const char* fault = "") {
  setenv("FAKE_NVML_FAULT", fault, 1);
  absl::StatusOr<DetectedInventory> detected = DetectInventory({cpu_slots, library});
  unsetenv("FAKE_NVML_FAULT");
  EXPECT_TRUE(detected.ok()) << detected.status();
  return detected.value_or(DetectedInventory());
}

TEST(InventoryTest, MachineWithoutDriverOffersItsCores) {
  const DetectedInventory detected = Detect(std::nullopt, kNoLibrary);
  const v1::Inventory& inventory = detected.inventory;
  EXPECT_GE(inventory.cpu_cores(), 1);
  EXPECT_EQ(inventory.slots_size(), inventory.cpu_cores());
  EXPECT_GT(inventory.memory_bytes(), 1 << 20);
  EXPECT_THAT(detected.warnings, IsEmpty());
}

TEST(InventoryTest, CpuSlotsShareTheMemory) {
  const v1::Inventory inventory = Detect(3, kNoLibrary).inventory;
  ASSERT_EQ(inventory.slots_size(), 3);
  for (int i = 0; i < 3; ++i) {
    const v1::Slot& slot = inventory.slots(i);
    EXPECT_EQ(slot.index(), i);
    EXPECT_EQ(slot.kind(), v1::DEVICE_KIND_CPU);
    EXPECT_EQ(slot.uuid(), "");
    EXPECT_NE(slot.model(), "");
    EXPECT_EQ(slot.memory_bytes(), inventory.memory_bytes() / 3);
  }
  EXPECT_EQ(Detect(0, kNoLibrary).inventory.slots_size(), 0);
}

TEST(InventoryTest, GpusReplaceCpuSlotsUnlessAskedFor) {
  const v1::Inventory inventory = Detect(std::nullopt, FAKE_NVML).inventory;
  ASSERT_EQ(inventory.slots_size(), 3);
  EXPECT_EQ(inventory.slots(1).index(), 1);
  EXPECT_EQ(inventory.slots(1).kind(), v1::DEVICE_KIND_GPU);
  EXPECT_EQ(inventory.slots(1).model(), "NVIDIA H200");
  EXPECT_EQ(inventory.slots(1).uuid(), "GPU-1");
  EXPECT_EQ(inventory.slots(1).memory_bytes(), 150754820096);

  const v1::Inventory both = Detect(2, FAKE_NVML).inventory;
  ASSERT_EQ(both.slots_size(), 5);
  EXPECT_EQ(both.slots(3).kind(), v1::DEVICE_KIND_CPU);
  EXPECT_EQ(both.slots(4).index(), 4);
}

TEST(InventoryTest, LostGpuIsLeftOutAndNamed) {
  const DetectedInventory detected = Detect(std::nullopt, FAKE_NVML, "lost");
  ASSERT_EQ(detected.inventory.slots_size(), 2);
  EXPECT_EQ(detected.inventory.slots(1).index(), 1);
  EXPECT_EQ(detected.inventory.slots(1).uuid(), "GPU-2");
  EXPECT_THAT(detected.warnings,
              ElementsAre("GPU 1 is not offered to jobs: GPU is lost (NVML error 15)"));
}

TEST(InventoryTest, BrokenDriverIsAWarning) {
  const DetectedInventory no_driver = Detect(1, FAKE_NVML, "init");
  EXPECT_EQ(no_driver.inventory.slots_size(), 1);
  EXPECT_THAT(no_driver.warnings, ElementsAre(HasSubstr("Driver Not Loaded")));
  EXPECT_THAT(Detect(1, FAKE_NVML, "count").warnings, ElementsAre(HasSubstr("Unknown Error")));
  // libc has no NVML functions.
  EXPECT_THAT(Detect(1, "libc.so.6").warnings, ElementsAre(HasSubstr("lacks functions")));
}

// Container images made for NVIDIA's container toolkit may contain an empty file instead of the
// library.
TEST(InventoryTest, LibraryThatCannotBeLoadedIsAWarning) {
  const TemporaryDirectory temporary;
  const std::string library = temporary.File("libnvidia-ml.so.1");
  std::ofstream(library).flush();
  EXPECT_THAT(Detect(1, library.c_str()).warnings, ElementsAre(HasSubstr("file too short")));
  EXPECT_THAT(Detect(1, kNoLibrary).warnings, IsEmpty());
}

TEST(InventoryTest, GpusCountTowardsTheLimit) {
  const auto both = DetectInventory({1024, FAKE_NVML});
  EXPECT_EQ(both.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(both.status().message()), HasSubstr("and 1024 CPU slots"));
}

TEST(InventoryTest, RefusesAbsurdSlots) {
  for (const int slots : {-1, 1025}) {
    EXPECT_EQ(DetectInventory({slots, kNoLibrary}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace trainyard::worker
