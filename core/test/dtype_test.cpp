// The element types: names, sizes and facts as literals.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <trn/core/dtype.hpp>
#include <trn/core/error.hpp>

#include "scrambled_backend.hpp"

namespace trn {
namespace {

using testing_support::message_of;

struct Expected {
  DType dtype;
  const char* name;
  int bytes;
  double unit_roundoff;
};
constexpr Expected kExpected[] = {
    {DType::Float64, "float64", 8, 0x1p-53},
    {DType::Float32, "float32", 4, 0x1p-24},
    {DType::TFloat32, "tfloat32", 4, 0x1p-11},
    {DType::BFloat16, "bfloat16", 2, 0x1p-8},
    {DType::Float16, "float16", 2, 0x1p-11},
    {DType::Float8E4M3, "float8_e4m3", 1, 0x1p-4},
    {DType::Float8E4M3FN, "float8_e4m3fn", 1, 0x1p-4},
    {DType::Float8E5M2, "float8_e5m2", 1, 0x1p-3},
    {DType::Int32, "int32", 4, 0},
    {DType::Int16, "int16", 2, 0},
    {DType::Int8, "int8", 1, 0},
    {DType::UInt32, "uint32", 4, 0},
    {DType::UInt16, "uint16", 2, 0},
    {DType::UInt8, "uint8", 1, 0},
    {DType::Complex64, "complex64", 8, 0x1p-24},
    {DType::Complex128, "complex128", 16, 0x1p-53},
    {DType::Int64, "int64", 8, 0},
    {DType::UInt64, "uint64", 8, 0},
};

TEST(DType, FactsOfEveryType) {
  ASSERT_EQ(all_dtypes().size(), std::size(kExpected));
  for (std::size_t i = 0; i < std::size(kExpected); ++i) {
    const Expected& e = kExpected[i];
    EXPECT_EQ(all_dtypes()[i], e.dtype);
    EXPECT_EQ(name(e.dtype), e.name);
    EXPECT_EQ(size_bytes(e.dtype), e.bytes) << e.name;
    EXPECT_EQ(unit_roundoff(e.dtype), e.unit_roundoff) << e.name;
    EXPECT_EQ(is_complex(e.dtype), i == 14 || i == 15) << e.name;
    EXPECT_EQ(is_float(e.dtype), e.unit_roundoff > 0 && i < 14) << e.name;
    EXPECT_EQ(is_integer(e.dtype), e.unit_roundoff == 0) << e.name;
    EXPECT_EQ(is_int64(e.dtype), i >= 16) << e.name;
    EXPECT_EQ(is_fp8(e.dtype), e.unit_roundoff > 0 && e.bytes == 1) << e.name;
    EXPECT_EQ(parse_dtype(e.name), e.dtype);
  }
}

TEST(DType, RealOf) {
  EXPECT_EQ(real_of(DType::Complex64), DType::Float32);
  EXPECT_EQ(real_of(DType::Complex128), DType::Float64);
  EXPECT_EQ(real_of(DType::BFloat16), DType::BFloat16);
}

TEST(DType, ParsesShortNames) {
  EXPECT_EQ(parse_dtype("fp64"), DType::Float64);
  EXPECT_EQ(parse_dtype("fp32"), DType::Float32);
  EXPECT_EQ(parse_dtype("tf32"), DType::TFloat32);
  EXPECT_EQ(parse_dtype("bf16"), DType::BFloat16);
  EXPECT_EQ(parse_dtype("fp16"), DType::Float16);
  EXPECT_EQ(parse_dtype("fp8_e4m3"), DType::Float8E4M3);
  EXPECT_EQ(parse_dtype("fp8_e4m3fn"), DType::Float8E4M3FN);
  EXPECT_EQ(parse_dtype("fp8_e5m2"), DType::Float8E5M2);
}

TEST(DType, UnknownNameListsTheKnownOnes) {
  const std::string message = message_of<InvalidArgument>([] { (void)parse_dtype("float31"); });
  EXPECT_NE(message.find("'float31'"), std::string::npos) << message;
  for (const Expected& e : kExpected) EXPECT_NE(message.find(e.name), std::string::npos) << message;
  EXPECT_NE(message.find("bf16"), std::string::npos) << message;
  EXPECT_THROW((void)parse_dtype(""), InvalidArgument);
  EXPECT_THROW((void)parse_dtype("FLOAT32"), InvalidArgument);
}

TEST(DType, AValueOutsideTheEnumerationIsRefused) {
  EXPECT_THROW((void)size_bytes(static_cast<DType>(200)), InvalidArgument);
}

}  // namespace
}  // namespace trn
