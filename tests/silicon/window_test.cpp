// The range of addresses that handles are taken from.
#include <gtest/gtest.h>

#include "nrt/memory.hpp"

namespace trn::neuron::nrt {
namespace {

constexpr std::uint64_t kPage = 4096;

TEST(Window, AddressesComeBackOnlyWhenTheEndIsReached) {
  Window window(16 * kPage);
  const std::uintptr_t first = window.take(1), second = window.take(kPage), third = window.take(kPage + 1);
  EXPECT_EQ(second - first, 2 * kPage);  // a page and its guard
  EXPECT_EQ(third - second, 2 * kPage);
  window.give_back(second);
  EXPECT_EQ(window.take(1) - third, 3 * kPage);  // not in the place that is free again
  EXPECT_EQ(window.take(1) - third, 5 * kPage);
  EXPECT_EQ(window.take(1) - third, 7 * kPage);
  EXPECT_EQ(window.take(1) - third, 9 * kPage);
  EXPECT_EQ(window.take(1), second);  // the end is reached, and this is free
  EXPECT_EQ(window.take(kPage), 0u);  // one page is left
  window.give_back(first);
  EXPECT_EQ(window.take(1), first);
  EXPECT_EQ(window.take(17 * kPage), 0u);
}

#if !defined(__SANITIZE_THREAD__)
TEST(Window, OfTheProcessIsLarge) { EXPECT_GE(Window::of_process().bytes(), std::uint64_t{1} << 40); }
#endif

}  // namespace
}  // namespace trn::neuron::nrt
