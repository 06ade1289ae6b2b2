// What the documents claim of modelled time and traffic on trn2: batched short transforms at the DMA roof, one program
// for 16384 points, two trips through HBM for 2^21.
#include <trn/fft/plan_programs.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/device.hpp>

#include "device_plan_support.hpp"

namespace trn::fft::device_test {
namespace {

struct Modelled {
  double seconds = 0, dma_roof_seconds = 0;
  std::int64_t programs = 0, read_bytes = 0, written_bytes = 0;
  std::string busiest;
};

Modelled model(const Description& d, DType real = DType::Float32) {
  const Executor executor = Executor::open("sim:trn2");
  const tile::Machine& machine = tile::device_of(executor).machine();
  Modelled total;
  double most = 0;
  for (const auto& program : plan_programs(executor, d, real)) {
    const neuron::RunReport r = neuron::estimate(*program, machine);
    total.seconds += r.seconds;
    total.read_bytes += r.hbm_read_bytes;
    total.written_bytes += r.hbm_write_bytes;
    total.dma_roof_seconds += static_cast<double>(r.hbm_read_bytes + r.hbm_write_bytes) / machine.dma_bytes_per_s();
    ++total.programs;
    for (const neuron::Lane& lane : r.lanes) {
      if (lane.busy_s > most) most = lane.busy_s, total.busiest = lane.name;
    }
  }
  return total;
}

// 65,536 transforms of 128 points: 128 MiB of traffic take 365 us at 368 GB/s, launching included. Stores have static
// descriptors, which wait in no queue.
TEST(DeviceModel, ShortTransformsRunAtTheDmaRoof) {
  for (const std::int64_t n : {16, 64, 128}) {
    const Modelled m = model(dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = 65536 * 128 / n}));
    EXPECT_EQ(m.programs, 1);
    EXPECT_GE(m.dma_roof_seconds / m.seconds, 0.95) << n;
  }
}

TEST(DeviceModel, SixteenThousandPointsAreOneProgramOfTheTensorEngine) {
  const Modelled m = model(dense(Kind::ComplexToComplex, Direction::Forward, {16384}, {.batch = 256}));
  EXPECT_EQ(m.programs, 1);
  EXPECT_EQ(m.busiest, "tensor");
  EXPECT_LE(m.seconds / 256, 2.0e-6);
  EXPECT_EQ(m.written_bytes, 256 * 16384 * 8);
}

TEST(DeviceModel, TwoMillionPointsTakeTwoTrips) {
  const std::int64_t n = std::int64_t{1} << 21;
  const Modelled m = model(dense(Kind::ComplexToComplex, Direction::Forward, {n}));
  EXPECT_EQ(m.programs, 2);
  EXPECT_EQ(m.written_bytes, 2 * 8 * n);
  EXPECT_LE(m.read_bytes, 3 * 8 * n + (1 << 20));  // the data twice, the twiddles of the first trip once, matrices
  EXPECT_LE(m.seconds, 500e-6);
}

// Batched real transforms take at most 0.6 of the time of complex ones, those of up to 128 points too (8 points back:
// 0.61).
TEST(DeviceModel, RealTransformsAtHalfTheWork) {
  for (const std::int64_t n : {8, 16, 32, 60, 64, 97, 128, 256, 500, 512, 1000, 1024, 4096, 16384}) {
    const std::int64_t batch = (std::int64_t{1} << 23) / n;
    const double complex = model(dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = batch})).seconds;
    const Modelled forward = model(dense(Kind::RealToComplex, Direction::Forward, {n}, {.batch = batch}));
    const Modelled inverse = model(dense(Kind::ComplexToReal, Direction::Inverse, {n}, {.batch = batch}));
    EXPECT_LE(forward.seconds, 0.6 * complex) << n;
    EXPECT_LE(inverse.seconds, (n == 8 ? 0.62 : 0.6) * complex) << n;
    EXPECT_EQ(forward.programs + inverse.programs, 2) << n;
    EXPECT_EQ(forward.written_bytes, batch * (n / 2 + 1) * 8) << n;
    EXPECT_EQ(inverse.written_bytes, batch * n * 4) << n;
  }
}

TEST(DeviceModel, LongAndPrimeRealTransformsAreCheaper) {
  for (const auto& [n, batch] : {std::pair<std::int64_t, std::int64_t>{32768, 256},
                                 {std::int64_t{1} << 18, 32},
                                 {std::int64_t{1} << 21, 4},
                                 {1021, 2048}}) {
    const double complex = model(dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = batch})).seconds;
    const double limit = n == 1021 ? 0.9 : 0.62;
    EXPECT_LE(model(dense(Kind::RealToComplex, Direction::Forward, {n}, {.batch = batch})).seconds, limit * complex)
        << n;
    EXPECT_LE(model(dense(Kind::ComplexToReal, Direction::Inverse, {n}, {.batch = batch})).seconds, limit * complex)
        << n;
  }
}

// Three products of words are quicker than four passes of fp32 where lines are long; at 1024 points making the words
// leaves the Tensor Engine too little to do to reach its full rate.
TEST(DeviceModel, WordsBesideSingle) {
  for (const std::int64_t n : {128, 1024, 16384}) {
    Description d = dense(Kind::ComplexToComplex, Direction::Forward, {n}, {.batch = (std::int64_t{1} << 22) / n});
    const double native = model(d).seconds;
    d.precision = Mode::Tf32x3;
    EXPECT_LE(model(d).seconds, (n == 128 ? 0.98 : n == 1024 ? 1.15 : 0.9) * native) << n;
  }
}

}  // namespace
}  // namespace trn::fft::device_test
