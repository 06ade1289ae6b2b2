// What pair_energy refuses, and what it says then.
#include "pair_energy_support.hpp"

namespace trn::blas::test {
namespace {

template <class E, class F> void expect_message(F call, const std::string& part) {
  try {
    call();
    FAIL() << "not refused: " << part;
  } catch (const E& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

class PairEnergyArguments : public ::testing::Test {
 protected:
  Executor host = Executor::host();
  Molecule<float> m{2, 3, 4};
  Array<float> b = Array<float>::from_host(host, {2, 3, 4}, m.b);
  Array<float> low = Array<float>::from_host(host, {2}, m.occupied),
               high = Array<float>::from_host(host, {4}, m.virtuals);
};

TEST_F(PairEnergyArguments, ShapesMustFit) {
  expect_message<InvalidArgument>(
      [&] {
        (void)pair_energy(host, View<float>(host, b.data(), {6, 4}), low.view(), high.view());
      },
      "three dimensions");
  expect_message<InvalidArgument>([&] { (void)pair_energy(host, b.view(), high.view(), high.view()); },
                                  "4 occupied and 4 virtual energies; give 2 and 4");
  expect_message<InvalidArgument>(
      [&] {
        (void)pair_energy(host, View<float>(host, b.data(), {2, 3, 2}, {12, 4, 2}), low.view(), low.view());
      },
      "must be contiguous");
}

TEST_F(PairEnergyArguments, OperandsLiveOnTheCallsExecutor) {
  const Executor trn2 = Executor::open("sim:trn2");
  expect_message<InvalidArgument>([&] { (void)pair_energy(trn2, b.view(), low.view(), high.view()); },
                                  "B lives on executor 'host'");
  const auto db = b.to(trn2);
  expect_message<InvalidArgument>([&] { (void)pair_energy(trn2, db.view(), low.view(), high.view()); },
                                  "occupied lives on executor 'host'");
  const auto dl = low.to(trn2);
  expect_message<InvalidArgument>([&] { (void)pair_energy(trn2, db.view(), dl.view(), high.view()); },
                                  "virtuals lives on executor 'host'");
}

TEST_F(PairEnergyArguments, NullPointers) {
  expect_message<InvalidArgument>(
      [&] {
        (void)pair_energy(host, View<float>(host, nullptr, {2, 3, 4}), low.view(), high.view());
      },
      "B is not empty");
  expect_message<InvalidArgument>(
      [&] { (void)pair_energy(host, b.view(), VectorView<float>(host, nullptr, 2), high.view()); },
      "occupied is not empty");
}

TEST_F(PairEnergyArguments, DenominatorsMustBeNegative) {
  low.data()[1] = high.data()[2] = 0.5f;
  high.data()[0] = high.data()[1] = high.data()[3] = 1;
  expect_message<InvalidArgument>([&] { (void)pair_energy(host, b.view(), low.view(), high.view()); },
                                  "highest occupied energy is 0.5 and the lowest virtual one 0.5");
  low.data()[1] = NAN;
  expect_message<InvalidArgument>([&] { (void)pair_energy(host, b.view(), low.view(), high.view()); }, "all finite");
}

TEST_F(PairEnergyArguments, WhatHasNoKernelSaysSo) {
  expect_message<NotImplemented>([&] { (void)m.energy(host, {.precision = Mode::Tf32x3}); },
                                 "host computes in Native precision, not tf32x3");
  const Executor trn2 = Executor::open("sim:trn2");
  expect_message<NotImplemented>([&] { (void)m.energy(trn2, {.precision = Mode::Exact}); },
                                 "float32 operands in exact precision are not offered");
  expect_message<NotImplemented>([&] { (void)Molecule<double>(1, 2, 3).energy(trn2); },
                                 "float64 operands in native precision are not offered");
  expect_message<NotImplemented>([&] { (void)Molecule<double>(1, 1, 513).energy(trn2, {.precision = Mode::Exact}); },
                                 "up to 512 virtual orbitals, got 513");
  expect_message<InvalidArgument>([&] { (void)m.energy(host, {.precision = Precision::target(1e-15)}); },
                                  "or use float64");
}

}  // namespace
}  // namespace trn::blas::test
