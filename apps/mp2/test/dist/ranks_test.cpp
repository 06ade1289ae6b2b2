// MP2 with pairs of orbitals dealt over ranks: the bits of one process.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <mutex>

#include <trn/comm/group.hpp>
#include <trn/mp2/mp2.hpp>

namespace {

using namespace trn;

// The same bits: energies are compared as integers.
std::vector<std::int64_t> bits(const mp2::Mp2& r) {
  std::vector<std::int64_t> all;
  for (const double x : {r.scf.energy, r.mp2->same_spin, r.mp2->opposite_spin, r.mp2->fit_error}) {
    all.emplace_back();
    std::memcpy(&all.back(), &x, sizeof x);
  }
  return all;
}

TEST(Mp2Ranks, HaveTheBitsOfOneProcess) {
  const mp2::Molecule water = mp2::parse_xyz("3\n\nO 0 0 0.117\nH 0 0.757 -0.469\nH 0 -0.757 -0.469\n", "water", {});
  int cases = 0;
  std::mutex mutex;
  const mp2::Molecule radical = mp2::parse_xyz("2\n\nO 0 0 0\nH 0 0 0.97\n", "oh", {});
  const struct {
    const mp2::Molecule& molecule;
    int multiplicity;
    const char* executor;
  } all[] = {{water, 1, "host"}, {water, 1, "sim:trn2"}, {radical, 2, "host"}};
  for (const auto& [molecule, multiplicity, executor] : all) {
    mp2::Mp2Options options;
    options.multiplicity = multiplicity;
    options.basis = "6-31G*";
    options.jk_kind = mp2::JkKind::Exact;
    options.ri = "cc-pVDZ-RI";
    options.executor = executor;
    const mp2::Mp2 alone = mp2::run(molecule, options);
    ASSERT_TRUE(alone.mp2.has_value());
    for (const int ranks : {2, 3, 7}) {
      if (ranks == 7 && executor != std::string("host")) continue;
      std::vector<Executor> hosts(static_cast<std::size_t>(ranks), Executor::host());
      comm::run(comm::Group(hosts, "host"),
                [&, molecule = &molecule, executor = executor](const comm::Communicator& c, const Executor&) {
                  mp2::Mp2Options here = options;
                  here.group = &c;
                  const mp2::Mp2 r = mp2::run(*molecule, here);
                  const std::lock_guard lock(mutex);
                  ++cases;
                  EXPECT_EQ(bits(r), bits(alone)) << executor << ", rank " << c.rank() << " of " << ranks;
                  EXPECT_EQ(r.mp2->blocks, alone.mp2->blocks);
                  // A bound from a device speaks of the blocks that it was given.
                  if (executor == std::string("host")) {
                    EXPECT_EQ(r.mp2->bound, alone.mp2->bound);
                  }
                  EXPECT_NEAR(r.mp2->bound, alone.mp2->bound, 1e-6 * alone.mp2->bound);
                });
    }
  }
  EXPECT_EQ(cases, 29);
  std::printf("MP2 with the bits of one process: %d ranks\n", cases);
}

}  // namespace
