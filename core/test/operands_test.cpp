// The checks of operands: what they refuse, what they let pass, and what they say.
#include <gtest/gtest.h>

#include <trn/core/error.hpp>
#include <trn/core/operands.hpp>

#include "support/message_of.hpp"

namespace trn {
namespace {

using layout::Dim;
using layout::Region;
using testing_support::message_of;

TEST(Operands, OwnerAndAddressAreNamed) {
  const Executor host = Executor::host();
  EXPECT_NO_THROW(operands::check_owner("op", "x", host, host));
  EXPECT_NO_THROW(operands::check_address("op", "x", nullptr, true));
  EXPECT_EQ(message_of<InvalidArgument>([&] { operands::check_address("op", "x", nullptr, false); }),
            "op: x is not empty but its pointer is null; give it memory");
}

// Two executors that are opened by one name are two memories; the message says so instead of naming both alike.
TEST(Operands, AnotherExecutorOfTheSameName) {
  struct Memory : Backend {
    Memory() : Backend("sim:trn2", Family::Device) {}
    void* allocate(std::int64_t) override { return nullptr; }
    void deallocate(void*, std::int64_t) noexcept override {}
    void copy_in(void*, const void*, std::int64_t) override {}
    void copy_out(void*, const void*, std::int64_t) override {}
  };
  const Executor first(std::make_shared<Memory>()), second(std::make_shared<Memory>());
  EXPECT_NO_THROW(operands::check_owner("op", "x", first, first));
  EXPECT_EQ(message_of<InvalidArgument>([&] { operands::check_owner("op", "x", first, second); }),
            "op: x lives on another executor 'sim:trn2' than the one the call runs on, and each open() has a memory of "
            "its own; open one and use it for both, or copy with to() first");
  EXPECT_EQ(message_of<InvalidArgument>([&] { operands::check_owner("op", "x", Executor::host(), second); }),
            "op: x lives on executor 'sim:trn2', the call runs on 'host'; copy it there with to() first");
}

TEST(Operands, DistinctElements) {
  const auto text = [](std::vector<Dim> dims) {
    return message_of<InvalidArgument>([&] { operands::check_distinct("op", "C", dims); });
  };
  EXPECT_EQ(text({{3, 1}, {4, 2}}),
            "op: C has shape (3, 4) and strides (1, 2), so elements share places; give every element its own place");
  EXPECT_IN("share", text({{2, 0}}));
  // Interleaved, reversed, empty, one element with any stride, nine dimensions: all places differ.
  EXPECT_NO_THROW(operands::check_distinct("op", "C", std::vector<Dim>{{2, 3}, {3, 2}}));
  EXPECT_NO_THROW(operands::check_distinct("op", "C", std::vector<Dim>{{5, -7}, {7, 1}}));
  EXPECT_NO_THROW(operands::check_distinct("op", "C", std::vector<Dim>{{0, 0}, {7, 0}}));
  EXPECT_NO_THROW(operands::check_distinct("op", "C", std::vector<Dim>{{1, 0}, {7, 1}}));
  std::vector<Dim> nine;
  for (int d = 0; d < 9; ++d) nine.push_back({2, std::int64_t{1} << d});
  EXPECT_NO_THROW(operands::check_distinct("op", "C", nine));
  nine[3].extent = 3;
  EXPECT_IN("share", text(nine));
}

TEST(Operands, InputAndOutputApart) {
  const Dim even[] = {{10, 2}}, all[] = {{20, 1}}, none[] = {{0, 1}};
  const auto text = [](Region in, Region out) {
    return message_of<InvalidArgument>([&] { operands::check_apart("op", "A", in, "C", out); });
  };
  EXPECT_EQ(text({1000, 4, even}, {1040, 4, all}), "op: C shares memory with A; give C memory of its own");
  EXPECT_NO_THROW(operands::check_apart("op", "A", {1000, 4, even}, "C", {1004, 4, even}));
  EXPECT_NO_THROW(operands::check_apart("op", "A", {1000, 4, none}, "C", {1000, 4, even}));
  // Bytes of different types meet too.
  EXPECT_IN("share", text({1000, 4, even}, {1002, 1, even}));
}

}  // namespace
}  // namespace trn
