// The device programs do not depend on the order their parallel parts run in, touch nothing twice, are functions of
// their shape alone, mean what the algorithm means (Wide), and their emitted NKI text gives the simulator's bits.
#include <trn/fft/points_program.hpp>

#include "device_lines_support.hpp"
#include "support/nki_run.hpp"

namespace trn::fft::device_test {
namespace {

using neuron::Order;

PointLayout points(std::int64_t n, std::int64_t stride = 2, Format format = Format::Interleaved, bool real = false) {
  return {format, real, n, stride};
}

// One shape for each kernel and each way through it.
std::vector<LinesShape> shapes() {
  std::vector<LinesShape> all;
  for (const std::int64_t n : {3, 24, 64, 70, 128})
    all.push_back(dense_lines(LineKernel::Rows, 1, n, n == 3 ? 300 : 150));
  LinesShape s = dense_lines(LineKernel::Rows, 1, 40, 131);
  s.in = points(40, 1, Format::Planar), s.out = points(40, 1, Format::Planar), s.lines = {{131, 40, 43}};
  all.push_back(s);
  s.in = points(40, 1, Format::Interleaved, true), s.out = points(21), s.lines = {{131, 40, 42}};
  all.push_back(s);
  s = dense_lines(LineKernel::Rows, 1, 12, 700);
  s.in = points(12, 1, Format::Interleaved, true), s.out = points(7), s.lines = {{700, 12, 14}};
  all.push_back(s);
  s = dense_lines(LineKernel::Rows, 1, 40, 131);
  s.in = points(21), s.out = points(40, 1, Format::Interleaved, true), s.lines = {{3, 2000, 3000}, {37, 42, 40}};
  all.push_back(s);
  all.push_back(dense_lines(LineKernel::Columns, 1, 20, 700, true));
  s = dense_lines(LineKernel::Columns, 1, 100, 530, true);
  s.table = true;
  all.push_back(s);
  s = dense_lines(LineKernel::Columns, 1, 50, 1, true);
  s.in = points(50, 14), s.out = points(50, 14), s.lines = {{9, 700, 700}, {7, 2, 2}};
  all.push_back(s);
  all.push_back(dense_lines(LineKernel::Blocks, 16, 9, 90));
  all.push_back(dense_lines(LineKernel::Blocks, 11, 128, 37, true));
  s = dense_lines(LineKernel::Blocks, 9, 15, 70);
  s.in = points(135, 1, Format::Interleaved, true), s.out = points(68), s.lines = {{70, 135, 136}};
  all.push_back(s);
  s.in = points(68), s.out = points(135, 1, Format::Interleaved, true), s.lines = {{70, 136, 135}};
  all.push_back(s);
  // Half lines: n2 even and odd, lines as neighbours, planes, more lines than fit beside one another and a rest of
  // them.
  s = dense_lines(LineKernel::Blocks, 12, 14, 150);
  s.in = points(168, 1, Format::Interleaved, true), s.out = points(85), s.lines = {{150, 168, 170}};
  all.push_back(s);
  s.in = points(85), s.out = points(168, 1, Format::Interleaved, true), s.lines = {{150, 170, 168}};
  all.push_back(s);
  s = dense_lines(LineKernel::Blocks, 10, 7, 1);
  s.in = points(70, 41, Format::Interleaved, true), s.out = points(36, 41, Format::Planar),
  s.lines = {{3, 4000, 4000}, {41, 1, 1}};
  all.push_back(s);
  s.in = points(36, 41, Format::Planar), s.out = points(70, 41, Format::Interleaved, true);
  all.push_back(s);
  // Many short pieces at work at once.
  s = dense_lines(LineKernel::Blocks, 12, 128, 1);
  s.in = points(1536, 1, Format::Interleaved, true), s.out = points(769), s.lines = {{13, 4608, 4614}, {3, 1536, 1538}};
  all.push_back(s);
  s.n1 = 128, s.n2 = 12;
  s.in = points(769), s.out = points(1536, 1, Format::Interleaved, true), s.lines = {{13, 4614, 4608}, {3, 1538, 1536}};
  all.push_back(s);
  s.mode = Mode::Tf32x3;
  all.push_back(s);
  s = dense_lines(LineKernel::Blocks, 8, 16, 1, true);
  s.in = s.out = points(128, 60), s.lines = {{7, 7680, 7680}, {30, 2, 2}}, s.mode = Mode::Bf16x6;
  all.push_back(s);
  for (const std::int64_t count : {40, 530}) {  // one table for several transforms
    s = dense_lines(LineKernel::Columns, 1, 100, 1, true);
    s.in = s.out = points(100, 2 * count), s.lines = {{5, 200 * count, 200 * count}, {count, 2, 2}}, s.table = true;
    all.push_back(s);
  }
  for (const std::int64_t count : {40, 530}) {  // the first half of lines, several transforms and one
    s = dense_lines(LineKernel::Columns, 1, 128, 1, true);
    s.in = points(64, 2 * count), s.out = points(128, 2 * count), s.table = true;
    s.lines = {{3, 128 * count, 256 * count}, {count, 2, 2}};
    all.push_back(s);
    s.in = points(64, count, Format::Planar), s.lines = {{count, 1, 2}};
    all.push_back(s);
  }
  s = dense_lines(LineKernel::Blocks, 6, 64, 9);  // complex lines, the first half of each result
  s.out = points(192), s.lines = {{9, 768, 384}};
  all.push_back(s);
  s = dense_lines(LineKernel::Blocks, 10, 16, 30, true);
  s.in = points(81, 31, Format::Planar), s.out = points(160, 31, Format::Interleaved, true), s.lines = {{30, 1, 1}};
  all.push_back(s);
  return all;
}
ConstantOptions options_for(const LinesShape& s) {
  return {Direction::Forward, 1, s.table ? s.n() * s.lines.back().count : 0};
}

TEST(DeviceOrder, ShuffledEqualsInOrder) {
  for (const LinesShape& shape : shapes()) {
    for (const char* machine : {"trn1", "trn2", "trn3"}) {
      LinesRun reference(shape);
      reference.run(shape, machine, options_for(shape));
      EXPECT_LE(reference.error(shape, options_for(shape)), 1e-6);
      for (std::uint64_t seed = 1; seed <= (machine[3] == '2' ? 4 : 1); ++seed) {
        LinesRun run(shape);
        run.run(shape, machine, options_for(shape), {.order = Order::shuffled(seed)});
        for (int part = 0; part < 2; ++part) {
          EXPECT_EQ(run.y.planes_[part], reference.y.planes_[part])
              << machine << " seed " << seed << " " << name(shape.kernel) << " " << shape.n1 << " x " << shape.n2;
        }
      }
    }
  }
}

TEST(DeviceOrder, NoTwoParallelIterationsTouchTheSameBytes) {
  for (const LinesShape& shape : shapes()) {
    LinesRun run(shape);
    EXPECT_NO_THROW(run.run(shape, "trn2", options_for(shape), {.order = Order::in_order(), .check_races = true}))
        << name(shape.kernel) << " " << shape.n1 << " x " << shape.n2;
  }
}

// Wide storage leaves the rounding of constants, of 2^-25 on average, and of the result.
TEST(DeviceOrder, WideIsTheAlgorithmWithoutRounding) {
  for (const LinesShape& shape : shapes()) {
    LinesRun run(shape);
    if (shape.mode != Mode::Native) continue;  // words of rounded numbers
    run.run(shape, "trn2", options_for(shape), {.storage = neuron::Storage::Wide, .order = Order::in_order()});
    EXPECT_LE(run.error(shape, options_for(shape)), 1.2e-7)
        << name(shape.kernel) << " " << shape.n1 << " x " << shape.n2;
  }
}

TEST(DeviceOrder, ProgramsAreFunctionsOfTheirShape) {
  for (const LinesShape& shape : shapes())
    EXPECT_EQ(lines_program(shape, tile::machine("trn2")), lines_program(shape, tile::machine("trn2")));
}

// So many lines that the recorded loop runs, and a rest of every kind behind it.
TEST(DeviceOrder, LoopsOverManyLines) {
  LinesShape out = dense_lines(LineKernel::Blocks, 4, 128, 1);
  out.in = points(512, 1, Format::Interleaved, true), out.out = points(257),
  out.lines = {{32 * 16 * 4 + 3 * 32 + 7, 512, 514}};
  LinesShape in = dense_lines(LineKernel::Blocks, 128, 4, 1);
  in.in = points(257), in.out = points(512, 1, Format::Interleaved, true),
  in.lines = {{32 * 16 * 4 + 3 * 32 + 7, 514, 512}};
  for (const LinesShape& shape : {out, in}) {
    LinesRun reference(shape);
    reference.run(shape, "trn2", {}, {.order = Order::in_order(), .check_races = true});
    EXPECT_LE(reference.error(shape), 1e-6);
    LinesRun run(shape);
    run.run(shape, "trn2", {}, {.order = Order::shuffled(7)});
    EXPECT_EQ(run.y.planes_[0], reference.y.planes_[0]);
    EXPECT_EQ(run.y.planes_[1], reference.y.planes_[1]);
  }
}

TEST(DeviceNki, EmittedKernelsGiveTheSimulatorsBits) {
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    SCOPED_TRACE(name);
    const tile::Machine& machine = tile::machine(name);
    neuron::testing::expect_agreement(lines_program(dense_lines(LineKernel::Rows, 1, 24, 40), machine));
    neuron::testing::expect_agreement(lines_program(dense_lines(LineKernel::Rows, 1, 67, 9), machine));
    neuron::testing::expect_agreement(lines_program(dense_lines(LineKernel::Columns, 1, 20, 25, true), machine));
    neuron::testing::expect_agreement(lines_program(dense_lines(LineKernel::Blocks, 12, 11, 23), machine));
    LinesShape words = dense_lines(LineKernel::Blocks, 8, 7, 20);
    words.mode = name[3] == '1' ? Mode::Bf16x6 : Mode::Tf32x3;
    neuron::testing::expect_agreement(lines_program(words, machine));
  }
  const tile::Machine& machine = tile::machine("trn2");
  LinesShape table = dense_lines(LineKernel::Columns, 1, 30, 17, true);
  table.table = true;
  neuron::testing::expect_agreement(lines_program(table, machine));
  LinesShape packed = dense_lines(LineKernel::Rows, 1, 6, 50);
  packed.in = points(6, 1, Format::Interleaved, true), packed.out = points(4), packed.lines = {{50, 6, 8}};
  neuron::testing::expect_agreement(lines_program(packed, machine));
  LinesShape first_rows = dense_lines(LineKernel::Columns, 1, 128, 1, true);
  first_rows.in = points(64, 10), first_rows.out = points(128, 10), first_rows.table = true;
  first_rows.lines = {{3, 640, 1280}, {5, 2, 2}};
  neuron::testing::expect_agreement(lines_program(first_rows, machine));
  LinesShape half = dense_lines(LineKernel::Rows, 1, 30, 9);
  LinesShape half_blocks = dense_lines(LineKernel::Blocks, 6, 7, 12);
  half_blocks.in = points(22), half_blocks.out = points(42, 1, Format::Interleaved, true),
  half_blocks.lines = {{12, 44, 42}};
  neuron::testing::expect_agreement(lines_program(half_blocks, machine));
  half_blocks.n1 = 7, half_blocks.n2 = 6;
  neuron::testing::expect_agreement(lines_program(half_blocks, machine));
  for (const bool even : {false, true}) {
    for (const char* name : {"trn1", "trn2", "trn3"}) {
      LinesShape first_half = dense_lines(LineKernel::Blocks, even ? 7 : 6, even ? 6 : 7, 12);
      first_half.in = points(42, 1, Format::Interleaved, true), first_half.out = points(22),
      first_half.lines = {{12, 42, 44}};
      neuron::testing::expect_agreement(lines_program(first_half, tile::machine(name)));
    }
  }
  half.in = points(16), half.out = points(30, 1, Format::Interleaved, true), half.lines = {{9, 32, 30}};
  neuron::testing::expect_agreement(lines_program(half, machine));
}

TEST(DeviceNki, PointKernelsGiveTheSimulatorsBits) {
  const tile::Machine& machine = tile::machine("trn2");
  neuron::testing::expect_agreement(pointwise_program({points(150), points(200), {{3, 300, 400}}, true}, machine));
  neuron::testing::expect_agreement(
      pointwise_program({points(30), points(25, 1, Format::Planar), {{70, 60, 25}}, true}, machine));
  neuron::testing::expect_agreement(half_line_program({points(76), points(150), {{3, 152, 300}}}, machine));
  neuron::testing::expect_agreement(half_line_program({points(33), points(65), {{70, 66, 130}}}, machine));
}

}  // namespace
}  // namespace trn::fft::device_test
