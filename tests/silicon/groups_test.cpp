// Groups of cores of the hardware, "neuron:0-7", over the fake runtime: one rank on each core, programs on all of them
// and collectives between.
#include <gtest/gtest.h>

#include <trn/comm/collectives.hpp>
#include <trn/comm/group.hpp>

#include "silicon/programs.hpp"
#include "silicon/surroundings.hpp"
#include "support/fake_nrt.hpp"
#include "support/message_of.hpp"

namespace trn::neuron::testing {
namespace {

using comm::Communicator;
using comm::Group;

TEST(NeuronGroups, EightCoresComputeAndMeet) {
  const Folder folder;
  const Variable cache("TRN_NEFF_CACHE", folder.path.string()), python("TRN_NKI_PYTHON", TRN_FAKE_TOOLCHAIN_PATH);
  for (const char* flavour : {"new", "old"}) {
    FakeRuntime fake("cores=8", flavour);
    const Group group = Group::open("neuron:0-7");
    ASSERT_EQ(group.size(), 8);
    EXPECT_EQ(group.name(), "neuron:0-7");
    EXPECT_EQ(group.executor(0).name(), "neuron");
    EXPECT_EQ(group.executor(7).name(), "neuron:7");
    comm::run(group, [](const Communicator& c, const Executor& e) {
      const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(static_cast<float>(c.rank())));
      const Array<float> y(e, {kRows, kColumns});
      twice(e, x, y);
      EXPECT_EQ(y.to_host(), filled(2 * static_cast<float>(c.rank())));
      comm::maximum(c, y.view());
      EXPECT_EQ(y.to_host(), filled(2 * 7));
      twice(e, y, x);  // on the device, from what the collective left there
      EXPECT_EQ(x.to_host(), filled(4 * 7));
      const auto count = Array<std::int32_t>::from_host(e, {3}, std::vector<std::int32_t>(3, c.rank()));
      comm::sum(c, count.view());
      EXPECT_EQ(count.to_host(), std::vector<std::int32_t>(3, 28));
    });
    EXPECT_EQ(fake.count("runs"), 16u);
  }
}

TEST(NeuronGroups, NamesChooseCoresInTheirOrder) {
  FakeRuntime fake("cores=4");
  const Group group = Group::open("neuron:3,0-1");
  ASSERT_EQ(group.size(), 3);
  EXPECT_EQ(group.executor(0).name(), "neuron:3");
  EXPECT_EQ(group.executor(1).name(), "neuron");
  EXPECT_EQ(group.executor(2).name(), "neuron:1");
  const std::string text = ::trn::testing_support::message_of<InvalidArgument>([] { (void)Group::open("neuron:0-4"); });
  EXPECT_NE(text.find("core 4"), std::string::npos) << text;
}

}  // namespace
}  // namespace trn::neuron::testing
