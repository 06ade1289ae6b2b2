// TRN_SIMD: a lesser instruction set is taken by its name, an unknown one is refused.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <trn/core/error.hpp>
#include <trn/core/instruction_set.hpp>

#include "support/message_of.hpp"

namespace trn {
namespace {

using testing_support::message_of;

TEST(InstructionSet, EveryOneOfTheProcessorCanBeTheBest) {
  const std::string best = instruction_set();
  int limited = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    limit_instruction_set(hwy::TargetName(target));
    EXPECT_EQ(instruction_set(), hwy::TargetName(target));
    limit_instruction_set("");
    EXPECT_EQ(instruction_set(), hwy::TargetName(target));
    hwy::DisableTargets(0);
    ++limited;
  }
  EXPECT_GE(limited, 1);
  EXPECT_EQ(instruction_set(), best);
}

TEST(InstructionSet, UnknownNamesAreRefusedWithTheKnownOnes) {
  const std::string message = message_of<InvalidArgument>([] { limit_instruction_set("avx9"); });
  EXPECT_NE(message.find("'avx9'"), std::string::npos) << message;
  EXPECT_NE(message.find(instruction_set()), std::string::npos) << message;
}

}  // namespace
}  // namespace trn
