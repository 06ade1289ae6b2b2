// The four errors and the two guards that throw them.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <trn/core/error.hpp>

#include "scrambled_backend.hpp"

namespace trn {
namespace {

using testing_support::message_of;

TEST(Error, RequireThrowsInvalidArgumentWithTheFormattedMessage) {
  EXPECT_NO_THROW(require(true, "never {}", 1));
  EXPECT_EQ(message_of<InvalidArgument>([] { require(false, "gemm: k = {}; must be >= {}", -1, 0); }),
            "gemm: k = -1; must be >= 0");
}

TEST(Error, EnsureThrowsInternalError) {
  EXPECT_NO_THROW(ensure(true, "never"));
  EXPECT_EQ(message_of<InternalError>([] { ensure(false, "broken: {}", "x"); }), "broken: x");
}

TEST(Error, EveryKindIsAnErrorAndNoOtherKind) {
  EXPECT_THROW(fail<NotImplemented>("no"), Error);
  EXPECT_THROW(fail<DeviceError>("no"), std::runtime_error);
  EXPECT_NONFATAL_FAILURE((void)message_of<InvalidArgument>([] { fail<NotImplemented>("other"); }),
                          "another type: other");
  static_assert(!std::is_base_of_v<InvalidArgument, NotImplemented> && !std::is_base_of_v<DeviceError, InternalError>);
}

TEST(Error, DeviceErrorNamesTheCheckThatFired) {
  EXPECT_EQ(DeviceError("a").check(), "");
  EXPECT_EQ(DeviceError("a", "psum_bank").check(), "psum_bank");
}

}  // namespace
}  // namespace trn
