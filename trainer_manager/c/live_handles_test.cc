#include "footprint/trainer_manager/c/live_handles.h"

#include <memory>

#include "gtest/gtest.h"

namespace footprint {
namespace {

struct Counted {
  explicit Counted(int* destroyed) : destroyed(destroyed) {}
  ~Counted() { ++*destroyed; }
  int* destroyed;
};

TEST(LiveHandlesTest, FindsAHandleUntilItIsRemoved) {
  int destroyed = 0;
  LiveHandles<Counted> handles;
  Counted* const first = handles.Add(std::make_unique<Counted>(&destroyed));
  Counted* const second = handles.Add(std::make_unique<Counted>(&destroyed));
  EXPECT_EQ(handles.Find(first), first);
  handles.Remove(first);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(handles.Find(first), nullptr);
  EXPECT_EQ(handles.Find(second), second);
}

TEST(LiveHandlesTest, PassesOverWhatIsNotAHandle) {
  int destroyed = 0;
  LiveHandles<Counted> handles;
  Counted* const handle = handles.Add(std::make_unique<Counted>(&destroyed));
  handles.Remove(nullptr);
  handles.Remove(handle + 1);
  EXPECT_EQ(handles.Find(nullptr), nullptr);
  EXPECT_EQ(handles.Find(handle + 1), nullptr);
  handles.Remove(handle);
  handles.Remove(handle);
  EXPECT_EQ(destroyed, 1);
}

TEST(LiveHandlesTest, DestroysTheRest) {
  int destroyed = 0;
  {
    LiveHandles<Counted> handles;
    handles.Add(std::make_unique<Counted>(&destroyed));
  }
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace footprint
