// Precision: names, parsing, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <trn/core/error.hpp>
#include <trn/core/precision.hpp>

namespace trn {
namespace {

TEST(Precision, EveryModeHasAName) {
  ASSERT_EQ(all_modes().size(), 6u);
  for (const Mode mode : all_modes()) EXPECT_EQ(Precision::parse(name(mode)), Precision(mode)) << name(mode);
  EXPECT_EQ(name(Mode::Bf16x6), "bf16x6");
  EXPECT_THROW((void)name(static_cast<Mode>(9)), InvalidArgument);
}

TEST(Precision, Target) {
  const Precision p = Precision::parse("target=1e-9");
  EXPECT_TRUE(p.has_target());
  EXPECT_EQ(p.target_error(), 1e-9);
  EXPECT_NE(p, Precision());
  EXPECT_FALSE(Precision(Mode::Exact).has_target());
}

TEST(Precision, Refusals) {
  for (const double error : {0.0, -1e-3, 1.0, std::nan("")})
    EXPECT_THROW((void)Precision::target(error), InvalidArgument) << error;
  for (const char* text : {"", "fp32", "target", "target=", "target=x", "target=2", "Exact"}) {
    EXPECT_THROW((void)Precision::parse(text), InvalidArgument) << text;
  }
}

}  // namespace
}  // namespace trn
