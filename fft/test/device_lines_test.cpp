// The programs of lines against the formula in long double: lengths and batches across every edge, layouts, directions,
// real lines, machines.
#include "device_lines_support.hpp"

namespace trn::fft::device_test {
namespace {

constexpr double kSingle = 1e-6;

TEST(DeviceLines, RowsOfEveryLength) {
  for (const std::int64_t n : {1, 2, 3, 5, 16, 31, 32, 33, 63, 64, 65, 97, 100, 127, 128}) {
    const LinesShape shape = dense_lines(LineKernel::Rows, 1, n, 131);
    LinesRun run(shape);
    run.run(shape, "trn2");
    EXPECT_LE(run.error(shape), kSingle) << n;
  }
}

TEST(DeviceLines, ColumnsOfEveryLength) {
  for (const std::int64_t n : {1, 2, 3, 5, 31, 32, 64, 65, 97, 127, 128}) {
    const LinesShape shape = dense_lines(LineKernel::Columns, 1, n, 130, true);
    LinesRun run(shape);
    run.run(shape, "trn2");
    EXPECT_LE(run.error(shape), kSingle) << n;
  }
}

TEST(DeviceLines, BlocksOfManyFactors) {
  for (const auto& [n1, n2] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {3, 43}, {16, 16}, {5, 100}, {8, 125}, {1, 7}, {7, 1}, {64, 64}, {127, 3}, {128, 128}}) {
    for (const bool columns : {false, true}) {
      const LinesShape shape = dense_lines(LineKernel::Blocks, n1, n2, n1 * n2 > 1000 ? 3 : 77, columns);
      LinesRun run(shape);
      run.run(shape, "trn2");
      EXPECT_LE(run.error(shape), kSingle) << n1 << " x " << n2;
    }
  }
}

}  // namespace
}  // namespace trn::fft::device_test
