// The questions of silicon-check: rules that can be told apart, a simulator that follows its own documentation, and a
// device with a wrong rounding that is found and named.
#include <fmt/format.h>

#include <set>

#include <trn/neuron/sim.hpp>

#include "silicon_choice.hpp"
#include "support.hpp"

namespace trn::tools::silicon {
namespace {

class Choices : public ::testing::TestWithParam<const char*> {};

TEST_P(Choices, TheSimulatorFollowsItsDocumentation) {
  const Executor executor = Executor::open(fmt::format("sim:{}", GetParam()));
  std::set<int> numbers;
  for (Question& q : questions(tile::machine(GetParam()))) {
    ASSERT_GE(q.rules.size(), 2u) << q.title;
    for (std::size_t i = 0; i < q.rules.size(); ++i) {
      ASSERT_EQ(q.rules[i].bits.size(), q.rules[0].bits.size()) << q.title << ": " << q.rules[i].name;
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_NE(q.rules[i].bits, q.rules[j].bits) << q.title << ": " << q.rules[i].name << ", " << q.rules[j].name;
      }
    }
    const Finding f = ask(executor, q);
    EXPECT_EQ(f.status, "confirmed") << q.number << " " << q.title << ": " << f.rule << "\nexpected " << f.expected
                                     << "\nfound    " << f.found;
    EXPECT_EQ(f.rule, q.rules[0].name);
    numbers.insert(f.number);
  }
  for (const Undecidable& u : undecidable()) EXPECT_TRUE(numbers.insert(u.number).second) << u.number;
  const bool trn1 = std::string(GetParam()) == "trn1", trn3 = std::string(GetParam()) == "trn3";
  for (int i = 1; i <= 31; ++i) {
    const bool elsewhere =
        (trn1 && (i == 2 || i == 6 || i == 25)) || (!trn3 && i == 3);  // the machine has no such thing
    EXPECT_EQ(numbers.contains(i), !elsewhere) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Choices, ::testing::Values("trn1", "trn2", "trn3"));

}  // namespace
}  // namespace trn::tools::silicon
