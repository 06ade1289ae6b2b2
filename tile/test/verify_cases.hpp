// One row per sub-rule of verify(): a program in two versions that differ in one thing, one legal and one not. The
// legal version must pass every rule; the other must break the named rule and no other, with a message that says
// `expect`.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <trn/tile/builder.hpp>
#include <trn/tile/verify.hpp>
#include <vector>

namespace trn::tile::test {

struct Case {
  const char* name;
  const char* rule;
  const char* expect;
  std::function<void(Builder& b, bool bad)> record;
  const char* machine = "trn2";
};

inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

inline std::string all_messages(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += d.rule + ": " + d.message + "\n";
  return text;
}

class VerifyCase : public testing::TestWithParam<Case> {
 protected:
  static std::vector<Diagnostic> diagnose(bool bad) {
    const Machine& m = machine(GetParam().machine);
    Builder b("case", m);
    GetParam().record(b, bad);
    return verify(b.finish_unverified(), m);
  }
};

inline void expect_refused(const std::vector<Diagnostic>& diagnostics, const Case& c) {
  ASSERT_FALSE(diagnostics.empty()) << "nothing was reported";
  for (const Diagnostic& d : diagnostics) EXPECT_EQ(d.rule, c.rule) << d.message;
  EXPECT_NE(diagnostics.front().message.find(c.expect), std::string::npos) << diagnostics.front().message;
}

inline std::string case_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }

// Short names for tables.
inline constexpr DType F32 = DType::Float32, BF16 = DType::BFloat16, FP16 = DType::Float16, TF32 = DType::TFloat32,
                       E4M3 = DType::Float8E4M3, E4M3FN = DType::Float8E4M3FN, I32 = DType::Int32, U32 = DType::UInt32,
                       U16 = DType::UInt16, U8 = DType::UInt8;

}  // namespace trn::tile::test

// The two tests of every row of `rows`.
#define TRN_VERIFY_CASES(Suite, rows)                                            \
  class Suite : public VerifyCase {};                                            \
  TEST_P(Suite, Refused) { expect_refused(diagnose(true), GetParam()); }         \
  TEST_P(Suite, ControlPasses) { EXPECT_EQ(all_messages(diagnose(false)), ""); } \
  INSTANTIATE_TEST_SUITE_P(Rules, Suite, testing::ValuesIn(rows), case_name)
